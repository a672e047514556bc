// The file itself: its faults whatever engine reads it, what it says and no tree holds, what was opened.

function fileSection(model) {
  const parts = [];
  if (model.closures?.length)
    parts.push(
      element("p", {}, `Checked on the open tree; ${counted(model.closures.length, "mimic or equality relation")} left out: `,
        name(model.closures.join(", ")), "."),
    );
  if (model.format === "mjcf")
    parts.push(paragraph("The tree of an MJCF is MuJoCo's own reading; only the lines are the file's."));
  if (model.lint?.length) parts.push(findingTable([...model.lint].sort(byWeight), "Lint: wrong in the file itself, changes no verdict", ["expected", "found"], false));
  else parts.push(paragraph("No fault was found in the file itself.", "empty"));
  parts.push(lossTable(model.losses, "Losses: what the file says and no tree holds"));
  return section("file", "The file: lint and losses", "File", ...parts);
}

function lossTable(losses, caption) {
  const rows = [...losses]
    .sort((a, b) => b.touches_dynamics - a.touches_dynamics)
    .map((loss) => ({ ...loss, place: place(loss.file, loss.line), touches: loss.touches_dynamics ? "yes" : "no" }));
  return table({
    caption,
    rows,
    wrap: true,
    layout: "fitColumns",
    empty: "the tree holds all that the file says",
    columns: [
      { field: "touches", title: "touches the dynamics", options: ["yes", "no"], least: 100, mark: (x) => (x === "yes" ? "bad" : "") },
      { field: "element", title: "element", wide: true, least: 110 },
      { field: "where", title: "where", wide: true, least: 110 },
      { field: "place", title: "file:line", wide: true, least: 120 },
      { field: "note", title: "note", wide: true, least: 220, grow: 3 },
    ],
  });
}
