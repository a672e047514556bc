// The page of a check: one model at a time, an overview when there are several.

function checkPage(head, content) {
  const several = head.overview.length + head.unusable.length > 1;
  const host = element("div", { id: "model" });
  if (several) content.append(overviewSection(head, (index) => show(index, true)));
  else if (head.unusable.length) content.append(unusableList(head.unusable));
  content.append(host);
  if (head.overview.length > 1) {
    const options = head.overview.map((row, i) => [i, `${row.status === "agree" ? "" : "✗ "}${place(row.file)}`]);
    const pick = choice("model", options, 0, (value) => show(Number(value), false));
    document.getElementById("chooser").append(pick);
  }
  const worst = head.overview.findIndex((row) => row.status !== "agree");
  if (head.overview.length) show(Math.max(0, worst), false);
  else content.append(...aboutSection(head, null, []));

  function show(index, jump) {
    const model = JSON.parse(document.getElementById(`model-${index}`).textContent);
    dropTables(host);
    host.replaceChildren(...modelParts(head, model, several).filter(Boolean));
    redraw();
    listParts();
    const select = document.querySelector("#chooser select");
    if (select) select.value = index;
    if (jump) {
      host.querySelector("h2")?.scrollIntoView();
      announce(`${model.name} is shown`);
    }
  }
}

function modelParts(head, model, several) {
  const moving = model.moving_mass === model.total_mass ? "" : ` (${rounded(model.moving_mass)} kg moving)`;
  const about =
    `${model.name}: ${model.format.toUpperCase()}, ${model.base} base, ${counted(model.bodies, "body", "bodies")}, ` +
    `${counted(model.nv, "dof")}, ${rounded(model.total_mass)} kg${moving}; ` +
    `${counted(model.states.count, "frozen state")}, seed ${model.states.seed}`;
  const verdict = several
    ? element("p", { class: `verdict small ${model.verdict.status.replaceAll(" ", "-")}` },
        element("span", { class: "status" }, model.verdict.status), " ", name(model.verdict.words))
    : null;
  const first = section(
    "engines",
    several ? `Model ${place(model.file) || model.name}` : "Engines and findings",
    "Engines",
    verdict,
    model.file ? element("p", { class: "origin" }, name(model.file)) : null,
    element("p", { class: "origin" }, name(about)),
    missingNotice(head),
    engineTable(model),
    messages(model),
    findingList(merged(model.engines), {
      title: "Findings, the gravest first",
      none: "No engine reads another robot.",
      terms: head.terms,
    }),
    folded("Every quantity: error, scale, what is allowed, worst state", (box) =>
      box.append(quantityTable(model.engines, "Every quantity at its worst state")),
    ),
    Object.keys(head.kinds).length ? folded("What these kinds of finding mean", (box) => box.append(kindTexts(head.kinds))) : null,
  );
  return [
    first,
    robotSection(model, head.tolerance ?? 1e-9),
    matrixSection(model, head.tolerance ?? 1e-9),
    torqueSection(model),
    statesSection(model, head.tolerance ?? 1e-9),
    section(
      "identities",
      "Identities",
      "Identities",
      identityTable(model),
      folded("Every identity: residual, what is allowed, worst state", (box) => box.append(identityNumbers(model))),
    ),
    fileSection(model),
    ...aboutSection(head, model.states, [["file", model.file], ["sha256 of the file", model.sha256]]),
  ];
}

function overviewSection(head, show) {
  const rows = [
    ...head.unusable.map((row) => ({ file: row.file, status: "unusable", words: row.message })),
    ...head.overview.map((row, index) => ({ ...row, index })),
  ];
  const open = (value, row) => {
    if (row.index === undefined) return name(value);
    return element("button", { type: "button", class: "link", click: () => show(row.index) }, name(value));
  };
  return section(
    "overview",
    "Models",
    "Models",
    table({
      caption: "All models; a file name shows the model below",
      rows,
      wrap: true,
      layout: "fitColumns",
      columns: [
        { field: "file", title: "file", text: open, wide: true, least: 160, grow: 2 },
        { field: "status", title: "status", least: 90, mark: (x) => (x === "agree" ? "good" : "bad") },
        { field: "words", title: "verdict", wide: true, least: 260, grow: 4 },
        { field: "digits", title: "tau digits", right: true, least: 80, text: (x) => (x === null || x === undefined ? NONE : floored(x)) },
        { field: "findings", title: "findings", right: true, least: 95 },
        { field: "lint", title: "lint", right: true, least: 50 },
        { field: "bodies", title: "bodies", right: true, least: 60 },
        { field: "nv", title: "dofs", right: true, least: 50 },
        { field: "total_mass", title: "mass [kg]", right: true, least: 80 },
      ],
    }),
  );
}

function unusableList(rows) {
  const list = element("ul", { class: "messages" });
  for (const row of rows) list.append(element("li", {}, element("b", {}, name(row.file), ": "), name(row.message)));
  return section("overview", "Files that cannot be used", "Unusable", list);
}
