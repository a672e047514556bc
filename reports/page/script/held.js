// A body and its joint as the file and each engine hold them, side by side.

const BODY_ROWS = [
  ["mass", "kg", (b) => b.mass],
  ["centre of mass", "m", (b) => b.com],
  ["Ixx", "kg m^2", (b) => b.inertia?.[0][0]],
  ["Iyy", "kg m^2", (b) => b.inertia?.[1][1]],
  ["Izz", "kg m^2", (b) => b.inertia?.[2][2]],
  ["Ixy", "kg m^2", (b) => b.inertia?.[0][1]],
  ["Ixz", "kg m^2", (b) => b.inertia?.[0][2]],
  ["Iyz", "kg m^2", (b) => b.inertia?.[1][2]],
  ["gravity compensation", "", (b) => b.gravcomp],
];
const JOINT_ROWS = [
  ["kind", "", (j) => j.kind],
  ["parent", "", (j) => j.parent],
  ["axis", "", (j) => j.axis],
  ["placement xyz", "m", (j) => j.xyz],
  ["placement rpy", "rad", (j) => j.rpy],
  ["ref", "", (j) => j.ref],
  ["lower limit", "", (j) => j.lower],
  ["upper limit", "", (j) => j.upper],
  ["damping", "", (j) => j.damping],
  ["dry friction", "", (j) => j.frictionloss],
  ["armature", "", (j) => j.armature],
  ["stiffness", "", (j) => j.stiffness],
  ["rest of the spring", "", (j) => j.springref],
];

/** Return a body and its joint as the file and each engine hold them, what differs marked. */
function held(model, selected, at) {
  const file = model.tree.file;
  const i = file.bodies.findIndex((body) => body.name === selected);
  const joint = file.joints[i];
  const readers = Object.entries(model.tree.engines || {});
  const find = (tree, list, key) => tree?.[list].find((item) => item.name === key);
  const fused = model.tree.fused;
  // An engine that merges fixed bodies holds their sum, and places what hangs on them in the body that is left.
  const fixed = fixedOn(file, selected).filter((body) => body.mass || body.inertia.flat().some(Boolean));
  const empty = (body) => !body || (!body.mass && !body.inertia.flat().some(Boolean));
  const takes = ([, tree]) => fixed.some((body) => empty(find(tree, "bodies", body.name)));
  const moved = ([, tree]) => {
    const [theirs, merged] = [find(tree, "joints", joint.name), find(fused, "joints", joint.name)];
    return Boolean(theirs && merged) && merged.parent !== joint.parent && theirs.parent === merged.parent;
  };
  const heading = element("h3", {}, "Body ", name(selected), ", carried by joint ", name(joint.name));
  const origin = place(file.bodies[i].file, file.bodies[i].line);
  const parts = [heading];
  if (origin) parts.push(element("p", { class: "origin" }, name(origin), `; ${joint.kind} joint in `, name(joint.parent)));
  const gone = readers.filter(([, tree]) => !find(tree, "bodies", selected));
  for (const [who, tree] of gone) {
    const holder = tree.merged?.[selected];
    parts.push(
      element("p", {}, name(who), holder ? " has merged it into " : " holds no such body", holder ? name(holder) : "", "."),
    );
  }
  parts.push(side("Body", BODY_ROWS, "bodies", selected, takes), side("Joint", JOINT_ROWS, "joints", joint.name, moved));
  if (at.engine >= 0) parts.push(residuals(model, at.engine, selected, joint));
  return parts.filter(Boolean);

  function side(caption, rows, list, key, merging) {
    const own = find(file, list, key);
    const sum = readers.some(merging) ? find(fused, list, key) : null;
    const items = [own, ...(sum ? [sum] : []), ...readers.map(([, tree]) => find(tree, list, key))];
    const expected = [null, ...(sum ? [null] : []), ...readers.map((reader) => (sum && merging(reader) ? sum : own))];
    const head = element("tr", {}, element("th", { scope: "col" }, caption));
    for (const who of ["file", ...(sum ? ["file, fixed bodies merged"] : []), ...readers.map(([who]) => who)])
      head.append(element("th", { scope: "col" }, name(who)));
    const body = element("tbody", {});
    for (const [title, unit, of] of rows) {
      const values = items.map((item) => (item ? of(item) : undefined));
      if (values.every((value) => value === undefined || value === null || same(value, []))) continue;
      const line = element("tr", {}, element("th", { scope: "row" }, unit ? `${title} [${unit}]` : title));
      values.forEach((value, k) => line.append(cell(value, expected[k] ? of(expected[k]) : undefined)));
      body.append(line);
    }
    return element(
      "div",
      { class: "scroller", tabindex: "0", role: "region", "aria-label": `${caption} ${key}` },
      element("table", { class: "sides" }, element("caption", {}, `${caption} `, name(key)), element("thead", {}, head), body),
    );
  }
}

/** Return the bodies that are fixed to one, directly or through others. */
function fixedOn(tree, holder) {
  const names = new Set([holder]);
  return tree.bodies.filter((body, i) => {
    const on = !tree.joints[i].dofs.length && names.has(body.parent);
    if (on) names.add(body.name);
    return on;
  });
}

/** Return a cell; what departs from `expected` by more than rounding is marked, in words too. */
function cell(value, expected) {
  if (value === undefined) return element("td", { class: "none" }, NONE);
  const differs = expected !== undefined && !near(value, expected);
  const text = element("span", { class: "number", title: said(value, 17) }, name(said(value, differs ? 9 : 6)));
  return element(
    "td",
    { class: differs ? "differs" : "" },
    differs ? element("span", { class: "sign" }, "≠ ", element("span", { class: "unseen" }, "differs: ")) : "",
    text,
  );
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Return whether two values are equal to 1e-9 of the largest number in them. */
function near(a, b) {
  const [x, y] = [flat(a), flat(b)];
  if (!x || !y || x.length !== y.length) return same(a, b);
  const size = Math.max(1e-12, ...x.concat(y).filter(Number.isFinite).map(Math.abs));
  return x.every((p, i) => p === y[i] || Math.abs(p - y[i]) <= 1e-9 * size);
}

function flat(value) {
  const items = Array.isArray(value) ? value.flat(Infinity) : [value];
  const numbers = items.map(number);
  return numbers.some(Number.isNaN) ? null : numbers;
}

/** Return how far the chosen engine is off at one body and joint. */
function residuals(model, k, body, joint) {
  const result = model.engines[k];
  const worst = model.arrays.engines[k].worst;
  const rows = [];
  const add = (quantity, names, key) => {
    const i = (names || []).indexOf(key);
    if (i < 0 || !worst[quantity]) return;
    const { error, ratio, state } = worst[quantity];
    rows.push({ quantity, where: key, digits: digitsOf(ratio[i]), error: error[i], ratio: ratio[i], state: state[i] });
  };
  for (const dof of joint.dofs) for (const quantity of JOINT_MEASURES) add(quantity, result.dofs, dof);
  for (const quantity of BODY_MEASURES) add(quantity, result.bodies, body);
  if (!rows.length) return null;
  return table({
    caption: `Residuals here, ${label(result)}`,
    rows,
    columns: [
      { field: "quantity", title: "quantity" },
      { field: "where", title: "where" },
      { field: "digits", title: "digits", right: true, text: floored },
      { field: "error", title: "error", right: true, text: small },
      { field: "ratio", title: "error / scale", right: true, text: small },
      { field: "state", title: "state", right: true },
    ],
  });
}
