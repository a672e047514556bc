// The robot as a kinematic tree: bodies and joints coloured by residual; one is selected and shown as everyone reads it.

const JOINT_MEASURES = ["tau", "bias", "gravity", "acceleration"];
const BODY_MEASURES = ["poses", "velocities"];
const MARGINS = { left: 60, right: 125 }; // [px] of the tree

/** Return the section of the tree, or nothing when the document holds none. */
function robotSection(model, tolerance) {
  const tree = model.tree?.file;
  if (!tree?.bodies.length) return null;
  const answered = withArrays(model);
  const at = { engine: answered[0] ?? -1, joint: "tau", body: "poses", selected: suspect(model, tree) };
  const nodes = tree.bodies.map((body, i) => ({ body, joint: tree.joints[i] }));
  const findings = new Map();
  for (const result of model.engines)
    for (const f of result.findings)
      if (f.where && f.severity !== "convention") findings.set(f.where, (findings.get(f.where) || 0) + 1);

  const details = element("div", { class: "held", "aria-live": "polite" });
  const digits = () => measures(model, at, nodes);
  const drawn = chart({
    title: "Kinematic tree: bodies (circles) and joints (lines) by digits of agreement",
    size: () => treeSize(nodes, digits().depth),
    option: () => treeOption(nodes, digits(), at, findings, tolerance),
    describe: () => treeWords(model, at, digits(), findings),
    click: (event) => event.data?.body && select(event.data.body),
  });
  const search = element("input", { type: "search", id: "robot-search", autocomplete: "off" });
  const list = element("select", { id: "robot-list", size: Math.min(14, Math.max(4, nodes.length)) });
  search.addEventListener("input", () => fill(search.value));
  list.addEventListener("change", () => select(list.value));

  function fill(wanted = "") {
    const lower = wanted.trim().toLowerCase();
    const depth = digits().levels;
    const left = nodes.filter(({ body, joint }) => `${body.name} ${joint.name}`.toLowerCase().includes(lower));
    list.replaceChildren(
      ...left.map(({ body }) => {
        const marked = findings.has(body.name) || findings.has(jointOf(nodes, body.name)?.name);
        const indent = lower ? "" : "\u00a0\u00a0".repeat(depth.get(body.name) - 1);
        return element("option", { value: body.name }, `${indent}${body.name}${marked ? "  ✗" : ""}`);
      }),
    );
    list.value = at.selected;
    if (lower) announce(counted(left.length, "body", "bodies"));
  }
  function select(body) {
    at.selected = body;
    list.value = body;
    details.replaceChildren(...held(model, body, at));
    drawn.draw();
    reveal();
  }
  /** Scroll the tree so that the selected body is in sight: its levels are evenly spaced. */
  function reveal() {
    const { levels, depth } = digits();
    const { scrollWidth, clientWidth } = drawn.scroller;
    const x = MARGINS.left + (levels.get(at.selected) / depth) * (scrollWidth - MARGINS.left - MARGINS.right);
    const { scrollLeft } = drawn.scroller;
    if (x < scrollLeft + 60 || x > scrollLeft + clientWidth - 60) drawn.scroller.scrollLeft = x - clientWidth / 2;
  }
  whenPlaced(drawn.figure, reveal);
  const change = (key) => (value) => {
    at[key] = key === "engine" ? Number(value) : value;
    drawn.draw();
    details.replaceChildren(...held(model, at.selected, at));
  };
  fill();
  details.append(...held(model, at.selected, at));
  const choices = element("div", { class: "choices" });
  if (answered.length)
    choices.append(
      choice("residuals of", engineOptions(model, answered), at.engine, change("engine")),
      choice("joints by", JOINT_MEASURES.map((q) => [q, q]), at.joint, change("joint")),
      choice("bodies by", BODY_MEASURES.map((q) => [q, q]), at.body, change("body")),
    );
  return section(
    "robot",
    "The robot",
    "Robot",
    choices,
    drawn.figure,
    element(
      "div",
      { class: "beside" },
      element(
        "div",
        { class: "picker" },
        element("label", { for: "robot-search" }, "find a body or a joint"),
        search,
        element("label", { for: "robot-list" }, "body"),
        list,
      ),
      details,
    ),
    folded("All bodies and joints in a table", (box) => box.append(nodeTable(nodes, digits(), answered.length > 0))),
  );
}

/** Return the indices of the engines that arrays were kept of. */
function withArrays(model) {
  if (!model.arrays) return [];
  const kept = model.engines.map((_, k) => k).filter((k) => Object.keys(model.arrays.engines[k].digits).length);
  // The worst first, it is what a reader looks for; the reference last, it only shows its own rounding.
  const rank = ({ engine, status }) => (status !== "agree" ? 0 : engine !== "reference" ? 1 : 2);
  return kept.sort((a, b) => rank(model.engines[a]) - rank(model.engines[b]));
}

function engineOptions(model, indices) {
  return [...indices].sort((a, b) => a - b).map((k) => [k, label(model.engines[k])]);
}

/** Return the body that a finding names first, else the first body. */
function suspect(model, tree) {
  const names = new Map(tree.joints.map((joint) => [joint.name, joint.child]));
  for (const body of tree.bodies) names.set(body.name, body.name);
  for (const finding of merged(model.engines))
    if (finding.severity !== "convention" && names.has(finding.where)) return names.get(finding.where);
  return tree.bodies[0].name;
}

function jointOf(nodes, body) {
  return nodes.find((node) => node.body.name === body)?.joint;
}

/** Return digits of every body and joint with the chosen engine, and how deep each body stands. */
function measures(model, at, nodes) {
  const levels = new Map();
  for (const { body } of nodes) levels.set(body.name, (levels.get(body.parent) || 0) + 1);
  const result = model.engines[at.engine];
  const worst = model.arrays?.engines[at.engine]?.worst || {};
  const of = (quantity, names) => {
    const found = new Map();
    (worst[quantity] ? names || [] : []).forEach((item, i) => found.set(item, digitsOf(worst[quantity].ratio[i])));
    return found;
  };
  const dofs = of(at.joint, result?.dofs);
  const joints = new Map();
  for (const { joint } of nodes) {
    const some = joint.dofs.filter((dof) => dofs.has(dof)).map((dof) => dofs.get(dof));
    if (some.length) joints.set(joint.name, Math.min(...some));
  }
  return { levels, depth: Math.max(...levels.values()), bodies: of(at.body, result?.bodies), joints };
}

function treeSize(nodes, depth) {
  const parents = new Set(nodes.map(({ body }) => body.parent));
  const leaves = nodes.filter(({ body }) => !parents.has(body.name)).length;
  return { width: 150 + depth * 112, height: Math.max(150, leaves * 42 + 90) };
}

function treeOption(nodes, digits, at, findings, tolerance) {
  const grey = ink("unknown");
  const colour = (x) => (x === undefined ? grey : digitColour(x, tolerance));
  const made = new Map();
  const root = { name: nodes[0].body.parent, children: [], symbol: "rect", itemStyle: { color: ink("text") }, label: { color: ink("text"), textBorderWidth: 0 } };
  made.set(root.name, root);
  for (const { body, joint } of nodes) {
    const marked = findings.has(body.name) || findings.has(joint.name);
    const chosen = body.name === at.selected;
    const node = {
      name: body.name,
      body: body.name,
      joint,
      children: [],
      symbol: marked ? "diamond" : "circle",
      symbolSize: chosen ? 18 : marked ? 15 : 11,
      itemStyle: {
        color: colour(digits.bodies.get(body.name)),
        borderColor: chosen ? ink("accent") : marked ? ink("bad") : ink("text"),
        borderWidth: chosen ? 4 : marked ? 3 : 1,
      },
      lineStyle: {
        color: colour(digits.joints.get(joint.name)),
        width: joint.dofs.length ? 4 : 1.5,
        type: joint.dofs.length ? "solid" : "dotted",
        curveness: 0.4,
      },
      label: { fontWeight: chosen ? "bold" : "normal", color: marked ? ink("bad-text") : ink("text") },
    };
    made.get(body.parent)?.children.push(node);
    made.set(body.name, node);
  }
  return {
    tooltip: tooltip(({ data }) => {
      if (!data?.body) return tip(data?.name ?? "");
      const said = (map, key) => (map.has(key) ? `, ${floored(map.get(key))} digits` : "");
      return tip(
        `body ${data.body}${said(digits.bodies, data.body)}`,
        `joint ${data.joint.name}, ${data.joint.kind}${said(digits.joints, data.joint.name)}`,
        ...(findings.has(data.body) || findings.has(data.joint.name) ? ["named by a finding"] : []),
      );
    }),
    visualMap: digitMap(tolerance, { seriesIndex: [], show: digits.joints.size + digits.bodies.size > 0 }),
    series: [
      {
        type: "tree",
        data: [root],
        ...MARGINS,
        top: 16,
        bottom: 56,
        orient: "LR",
        expandAndCollapse: false,
        initialTreeDepth: -1,
        roam: false,
        label: {
          position: "top",
          distance: 6,
          fontSize: 11,
          textBorderColor: ink("page"),
          textBorderWidth: 2,
          formatter: ({ name }) => shortened(name),
        },
        leaves: { label: { position: "right", align: "left" } },
      },
    ],
  };
}

function treeWords(model, at, digits, findings) {
  const who = model.engines[at.engine];
  const parts = [`${model.name}: ${counted(model.bodies, "body", "bodies")}, ${counted(model.nv, "dof")}.`];
  if (!model.arrays) parts.push("Without the side file of arrays there are no residuals to colour it by.");
  else if (who) {
    const least = (map) => [...map].sort((a, b) => a[1] - b[1])[0];
    const [joint, body] = [least(digits.joints), least(digits.bodies)];
    if (joint) parts.push(`${label(who)}: fewest digits of ${at.joint} at joint ${joint[0]}, ${floored(joint[1])}.`);
    if (body) parts.push(`Fewest digits of ${at.body} at body ${body[0]}, ${floored(body[1])}.`);
  }
  if (findings.size) parts.push(`Diamonds: named by a finding (${[...findings.keys()].slice(0, 8).join(", ")}).`);
  if (digits.joints.size + digits.bodies.size) parts.push(COLOURS);
  parts.push("Dotted lines are fixed joints, grey was not compared.");
  return parts.join(" ");
}

function nodeTable(nodes, digits, compared) {
  const rows = nodes.map(({ body, joint }) => ({
    body: body.name,
    parent: body.parent,
    joint: joint.name,
    kind: joint.kind,
    place: place(body.file, body.line),
    mass: body.mass,
    joint_digits: digits.joints.get(joint.name) ?? null,
    body_digits: digits.bodies.get(body.name) ?? null,
  }));
  const shown = (x) => (x === null ? NONE : floored(x));
  return table({
    caption: "Bodies and joints",
    rows,
    columns: [
      { field: "body", title: "body" },
      { field: "parent", title: "parent" },
      { field: "joint", title: "joint" },
      { field: "kind", title: "kind" },
      { field: "place", title: "file:line" },
      { field: "mass", title: "mass [kg]", right: true },
      ...(compared
        ? [
            { field: "joint_digits", title: "digits, joint", right: true, text: shown },
            { field: "body_digits", title: "digits, body", right: true, text: shown },
          ]
        : []),
    ],
  });
}
