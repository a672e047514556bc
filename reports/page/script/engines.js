// Engines by path with digits of agreement, identities, and every number behind them.

const HEADS = {
  tau: ["tau", "inverse dynamics, with external wrenches"],
  bias: ["bias", "at zero acceleration"],
  gravity: ["gravity", "at rest"],
  mass_matrix: ["M", "mass matrix"],
  acceleration: ["acc", "joint accelerations, from forward dynamics"],
  poses: ["poses", "of bodies"],
  velocities: ["vel", "velocities of bodies"],
  kinetic_energy: ["E kin", "kinetic energy"],
  potential_energy: ["E pot", "potential energy"],
  center_of_mass: ["COM", "centre of mass"],
};
const STATUS = { agree: "good", differs: "bad", refused: "bad", crashed: "bad", timeout: "bad" };

/** Return what an engine on a path is called. */
function label(result) {
  return `${result.engine}, ${result.path} path`;
}

/** Return the class of a cell of digits. */
function standing(row) {
  if (!row || !row.applies) return "none";
  return row.passed ? "good" : "bad";
}

/** Return digits as the table shows them: a cross before what fails, a dash where nothing applies. */
function digitText(row) {
  if (!row || !row.applies) return NONE;
  return row.passed ? floored(row.digits) : `✗ ${floored(row.digits)}`;
}

function digitColumns(rowOf) {
  return Object.entries(HEADS).map(([quantity, [title, help]]) => ({
    field: quantity,
    title,
    help,
    right: true,
    filter: true,
    text: (value, row) => digitText(rowOf(row, quantity)),
    mark: (value, row) => standing(rowOf(row, quantity)),
  }));
}

/** Return the table of engines by path. */
function engineTable(model) {
  const rows = model.engines.map((result) => {
    const quantities = Object.fromEntries(result.quantities.map((row) => [row.quantity, row]));
    const applied = result.identities.filter((row) => row.applies);
    const hold = applied.filter((row) => row.passed).length;
    const digits = Object.fromEntries(
      result.quantities.map((row) => [row.quantity, row.applies ? row.digits : null]),
    );
    const { engine, version, path, status } = result;
    const all = applied.length ? `${hold}/${applied.length}` : null;
    return { engine, version, path, status, quantities, identities: all, failing: hold < applied.length, ...digits };
  });
  return table({
    caption: "Engines by path: digits of agreement with the reference",
    rows,
    columns: [
      { field: "engine", title: "engine" },
      { field: "version", title: "version" },
      { field: "path", title: "path" },
      { field: "status", title: "status", mark: (status) => STATUS[status] || "none" },
      ...digitColumns((row, quantity) => row.quantities[quantity]),
      {
        field: "identities",
        title: "identities",
        help: "identities that hold, of those that apply",
        right: true,
        mark: (value, row) => (value === null ? "none" : row.failing ? "bad" : "good"),
      },
    ],
  });
}

/** Return every quantity of every engine at its worst state. */
function quantityTable(engines, caption) {
  const rows = engines.flatMap((result) =>
    result.quantities.map((row) => ({ ...row, engine: result.engine, path: result.path })),
  );
  return table({
    caption,
    rows,
    columns: [
      { field: "engine", title: "engine" },
      { field: "path", title: "path" },
      { field: "quantity", title: "quantity" },
      { field: "passed", title: "passes", text: passing, mark: (value, row) => standing(row) },
      { field: "digits", title: "digits", right: true, text: (x, row) => (row.applies ? floored(x) : NONE) },
      ...["error", "tolerance", "scale"].map((field) => ({
        field,
        title: field === "tolerance" ? "allowed" : field,
        right: true,
        text: (x, row) => (row.applies ? small(x) : NONE),
      })),
      { field: "unit", title: "unit" },
      { field: "state", title: "state", right: true },
      { field: "where", title: "where" },
      { field: "note", title: "note" },
    ],
  });
}

function passing(passed, row) {
  return !row.applies ? "does not apply" : passed ? "yes" : "no";
}

/** Return identities by engine: the residual at the worst state. */
function identityTable(model) {
  const answered = model.engines.filter((result) => result.identities.length);
  const names = [...new Set(answered.flatMap((result) => result.identities.map((row) => row.identity)))];
  const rows = names.map((identity) => {
    const row = { identity, cells: {} };
    answered.forEach((result, k) => {
      const found = result.identities.find((item) => item.identity === identity);
      row.cells[`e${k}`] = found;
      row[`e${k}`] = found?.applies ? found.residual : null;
    });
    return row;
  });
  const text = (cell) => (!cell || !cell.applies ? NONE : `${cell.passed ? "" : "✗ "}${small(cell.residual)}`);
  return table({
    caption: "Identities by engine: largest residual",
    rows,
    empty: "no engine answered",
    columns: [
      { field: "identity", title: "identity" },
      ...answered.map((result, k) => ({
        field: `e${k}`,
        title: `${result.engine} ${result.path}`,
        right: true,
        text: (value, row) => text(row.cells[`e${k}`]),
        mark: (value, row) => standing(row.cells[`e${k}`]),
      })),
    ],
  });
}

function identityNumbers(model) {
  const rows = model.engines.flatMap((result) =>
    result.identities.map((row) => ({ ...row, engine: result.engine, path: result.path })),
  );
  return table({
    caption: "Every identity",
    rows,
    columns: [
      { field: "engine", title: "engine" },
      { field: "path", title: "path" },
      { field: "identity", title: "identity" },
      { field: "passed", title: "holds", text: passing, mark: (value, row) => standing(row) },
      { field: "residual", title: "residual", right: true, text: (x, row) => (row.applies ? small(x) : NONE) },
      { field: "tolerance", title: "allowed", right: true, text: (x, row) => (row.applies ? small(x) : NONE) },
      { field: "state", title: "state", right: true },
      { field: "where", title: "where" },
      { field: "note", title: "note" },
    ],
  });
}

/** Return what the engines say of themselves: refusals, what was taken out, why there is no answer. */
function messages(model) {
  const list = element("ul", { class: "messages" });
  for (const result of model.engines)
    if (result.message && !result.findings.some((finding) => finding.found === result.message))
      list.append(element("li", {}, element("b", {}, name(label(result)), ": "), name(result.message)));
  return list.children.length ? list : null;
}
