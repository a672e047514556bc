def mirrors(tree):
    return ()
