"""Algorithms of the textbooks that are no engine's answer, one idea per module, beside the native reference.

Planar chains in Cartesian vectors and by Lagrange, products of exponentials, Lie algebra, Coriolis matrices, forward
dynamics by columns, simulation, torque by parts, and the count of what each of them costs.
"""
