// The page of a comparison of two files.

const PHYSICAL = ["base", "dofs", "mass [kg]", "moving mass [kg]"]; // rows in which two files of one robot are alike

function pairPage(head, content) {
  const pair = head.pair;
  const [a, b] = pair.models;
  const rows = [
    ["file", (m) => m.file],
    ["name", (m) => m.name],
    ["format", (m) => m.format],
    ["base", (m) => m.base],
    ["bodies", (m) => m.bodies],
    ["dofs", (m) => m.nv],
    ["mass [kg]", (m) => m.total_mass],
    ["moving mass [kg]", (m) => m.moving_mass],
    ["closures", (m) => (m.closures?.length ? m.closures.join(", ") : null)],
    ["sha256", (m) => m.sha256],
  ].map(([what, of]) => ({ what, a: of(a), b: of(b) }));
  const found = [...pair.findings].sort(byWeight);
  content.append(
    section(
      "findings",
      "Findings",
      "Findings",
      element("p", { class: "origin" }, "A: ", name(pair.files[0])),
      element("p", { class: "origin" }, "B: ", name(pair.files[1])),
      pairDigits(pair),
      findingList(found, {
        title: "What differs, the most telling first",
        none: "Nothing differs.",
        terms: head.terms,
        sides: ["in A", "in B"],
        groups: head.groups.map(({ findings: [first, ...also], share, digits }) => ({
          first: pair.findings[first],
          also: also.map((i) => pair.findings[i]),
          share,
          note: digits ? "Differs in the last written digits only." : "",
        })),
        engines: false,
      }),
      pair.ignored?.length ? element("p", {}, "Ignored as asked: ", pair.ignored.join(", "), ".") : null,
      Object.keys(head.kinds).length ? folded("What these kinds of finding mean", (box) => box.append(kindTexts(head.kinds))) : null,
    ),
    section(
      "robots",
      "The two robots",
      "Robots",
      table({
        caption: "A and B",
        rows,
        wrap: true,
        layout: "fitColumns",
        columns: [
          { field: "what", title: "of", filter: false, least: 110 },
          { field: "a", title: "A", wide: true, least: 140, grow: 2, filter: false },
          { field: "b", title: "B", wide: true, least: 140, grow: 2, filter: false, mark: (x, row) => (PHYSICAL.includes(row.what) && !near(x, row.a) ? "bad" : "") },
        ],
      }),
    ),
    section("quantities", "Quantities", "Quantities", quantityTable([{ engine: "reference", path: "B against A", quantities: pair.quantities }], "Dynamics of B against A")),
    matchedSection(pair),
    section("file", "Losses", "Losses", lossTable(a.losses, "Losses in A"), lossTable(b.losses, "Losses in B")),
    ...aboutSection(head, pair.states, []),
  );
}

function pairDigits(pair) {
  const quantities = Object.fromEntries(pair.quantities.map((row) => [row.quantity, row]));
  const digits = Object.fromEntries(pair.quantities.map((row) => [row.quantity, row.applies ? row.digits : null]));
  return table({
    caption: "Digits in which B agrees with A at the same states",
    rows: [{ who: "B against A", ...digits }],
    columns: [{ field: "who", title: "robots" }, ...digitColumns((row, quantity) => quantities[quantity])],
  });
}

function matchedSection(pair) {
  const one = { joints: "joint", bodies: "body" };
  const matched = Object.entries(pair.matched).flatMap(([what, pairs]) =>
    pairs.map(([x, y]) => ({
      what: one[what],
      a: x,
      b: y,
      how: pair.doubtful?.includes(x) ? "by place, could be another" : x === y ? "same name" : "other name",
    })),
  );
  const alone = [
    ...Object.entries(pair.unmatched || {}).map(([side, names]) => [side, names, "joint, or body with mass"]),
    ...Object.entries(pair.frames_only || {}).map(([side, names]) => [side, names, "frame without inertia"]),
  ].flatMap(([side, names, what]) => names.map((where) => ({ side: side.toUpperCase(), where, what })));
  return section(
    "matched",
    "Matched and unmatched",
    "Matched",
    table({
      caption: "Only in one file",
      rows: alone,
      empty: "everything has its counterpart",
      columns: [
        { field: "side", title: "only in" },
        { field: "where", title: "name" },
        { field: "what", title: "what" },
      ],
    }),
    table({
      caption: "Matched",
      rows: matched,
      empty: "nothing was matched",
      columns: [
        { field: "what", title: "what" },
        { field: "a", title: "name in A" },
        { field: "b", title: "name in B" },
        { field: "how", title: "how" },
      ],
    }),
  );
}
