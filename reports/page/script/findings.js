// Findings: what differs, where, what was expected and found, what it explains, and what to do.

const TITLES = {
  model: "not the same robot",
  refusal: "would not load it",
  convention: "same robot, told otherwise",
  lint: "wrong in the file itself",
};
const GRAVITY = ["refusal", "model", "lint", "convention"];
const MOST = 12; // cards
const ALIKE = 4; // cards of one kind
const NAMED = 12; // names in a list

/** Return the severity by which a finding is shown; a fault of the file itself is lint. */
function severity(finding) {
  return finding.kind.startsWith("lint.") ? "lint" : finding.severity;
}

/** Order by severity, then by what is explained. */
function byWeight(a, b) {
  const order = GRAVITY.indexOf(severity(a)) - GRAVITY.indexOf(severity(b));
  return order || (b.explains ?? -1) - (a.explains ?? -1);
}

/** Return findings of several engines, the same one once, with all `readers` of it. */
function merged(engines) {
  const groups = new Map();
  for (const result of engines)
    for (const finding of result.findings) {
      const { kind, where, expected, found, file, line } = finding;
      const key = JSON.stringify([kind, where, expected, found, file, line]);
      if (!groups.has(key)) groups.set(key, { ...finding, readers: [] });
      groups.get(key).readers.push(`${result.engine}, ${result.path} path`);
    }
  return [...groups.values()].sort(byWeight);
}

/** Return both values in as many digits as tell them apart, with their unit. */
function values(finding) {
  const texts = apart(finding.expected, finding.found);
  return {
    expected: measured(texts[0], finding.expected, finding.unit),
    found: measured(texts[1], finding.found, finding.unit),
  };
}

/** Return findings in groups for cards: `ALIKE` of a kind one by one, where the others are beside the last of them. */
function grouped(findings) {
  const kinds = new Map();
  const groups = [];
  for (const finding of findings) {
    const some = kinds.get(finding.kind) || [];
    kinds.set(finding.kind, some);
    if (some.length >= ALIKE) some.at(-1).also.push(finding);
    else {
      some.push({ first: finding, also: [] });
      groups.push(some.at(-1));
    }
  }
  return groups;
}

/** Return one finding as an article, and where there are others like it. */
function card({ first: finding, also, share, note }, sides = ["expected", "found"]) {
  const weight = severity(finding);
  const where = finding.where ? [" at ", name(finding.where)] : [];
  const at = place(finding.file, finding.line);
  const title = element("h4", {}, element("code", {}, finding.kind), ...where);
  const facts = element("dl", {});
  const fact = (term, ...text) => facts.append(element("div", {}, element("dt", {}, term), element("dd", {}, ...text)));
  const other = place(finding.other_file, finding.other_line);
  if (at) fact(other ? "line in A" : "line", element("span", { title: finding.file }, name(at)));
  if (other) fact("line in B", element("span", { title: finding.other_file }, name(other)));
  if (finding.kind !== "unexplained") {
    const { expected, found } = values(finding);
    if (finding.expected !== null) fact(sides[0], number2(expected, finding.expected));
    if (finding.found !== null) fact(sides[1], number2(found, finding.found));
  }
  const explained = share ?? finding.explains;
  if (explained !== null && finding.kind !== "unexplained")
    fact(also.length && share !== undefined ? "together explain" : "explains", `${percent(explained)} of the difference`);
  if (finding.readers) fact("read by", name(finding.readers.join("; ")));
  if (finding.rivals?.length) fact("no motion tells it from", name(said(finding.rivals)));
  const made = element("li", { class: `card ${weight}` });
  made.append(element("p", { class: "weight" }, TITLES[weight]), title, facts);
  for (const text of [finding.note, note]) if (text) made.append(element("p", { class: "note" }, name(text)));
  if (finding.fix) made.append(element("p", { class: "fix" }, element("b", {}, "fix: "), name(finding.fix)));
  if (also.length) {
    const some = also.slice(0, NAMED).map((f) => `${f.where ?? "the file"}${f.line ? ` (line ${f.line})` : ""}`);
    const rest = also.length > NAMED ? ` and ${also.length - NAMED} more` : "";
    made.append(element("p", {}, element("b", {}, finding.kind, " also at: "), name(some.join(", ") + rest)));
  }
  return made;
}

/** Return a share, never rounded up to everything or down to nothing. */
function percent(share) {
  if (share < 0.001) return "less than 0.1%";
  return share > 1 - 1e-6 ? "100%" : `${(Math.floor(share * 1000 + 1e-9) / 10).toFixed(1)}%`;
}

/** Return a value whose title holds all its digits. */
function number2(text, value) {
  return element("span", { class: "number", title: said(value, 17) }, name(text));
}

/** Return the kinds of findings, each with how often it occurs. */
function times(findings) {
  const kinds = new Map();
  for (const { kind } of findings) kinds.set(kind, (kinds.get(kind) || 0) + 1);
  return [...kinds].map(([kind, n]) => (n > 1 ? `${kind} x${n}` : kind)).join(", ");
}

/** Return findings: the gravest one by one, all of them in a table. */
function findingList(findings, { title, none, terms, sides, groups, engines = true }) {
  const grave = findings.filter((f) => severity(f) !== "convention");
  const mapped = findings.filter((f) => severity(f) === "convention");
  const cards = groups || grouped(grave);
  const list = element("ol", { class: "cards" });
  for (const group of cards.slice(0, MOST)) list.append(card(group, sides));
  const parts = [element("h3", {}, title)];
  parts.push(cards.length ? list : paragraph(none, "empty"));
  const left = cards.slice(MOST).reduce((sum, group) => sum + 1 + group.also.length, 0);
  if (left) parts.push(paragraph(`${left} more are in the table below.`, "more"));
  // Where both say the same there is nothing to map; terms of other calls are no other telling of this robot.
  const told = mapped.filter((f) => !terms.includes(f.kind) && (f.expected === null || !same(f.expected, f.found)));
  const beside = mapped.filter((f) => terms.includes(f.kind));
  if (told.length) parts.push(element("p", {}, element("b", {}, `${TITLES.convention}: `), times(told), ". Nothing to fix."));
  if (beside.length) parts.push(element("p", {}, element("b", {}, "in other calls, not in the compared ones: "), times(beside), "."));
  if (findings.length)
    parts.push(
      folded(`${counted(findings.length, "finding")} in a table`, (box) =>
        box.append(findingTable(findings, "Findings", sides, engines)),
      ),
    );
  return element("div", { class: "findings" }, ...parts);
}

function findingTable(findings, caption, sides = ["expected", "found"], engines = true) {
  const rows = findings.map((f) => ({
    ...f,
    severity: TITLES[severity(f)],
    place: place(f.file, f.line),
    other: place(f.other_file, f.other_line),
    readers: f.readers?.join("; "),
  }));
  const side = (which) => (value, row) => values(row)[which];
  const distinct = (field) => [...new Set(rows.map((row) => row[field]))];
  return table({
    caption,
    rows,
    wrap: true,
    layout: "fitColumns",
    columns: [
      { field: "severity", title: "severity", options: distinct("severity"), wide: true, least: 90 },
      { field: "kind", title: "kind", options: distinct("kind"), wide: true, least: 110 },
      { field: "where", title: "where", wide: true, least: 110 },
      { field: "place", title: rows.some((row) => row.other) ? "in A" : "file:line", wide: true, least: 110 },
      ...(rows.some((row) => row.other) ? [{ field: "other", title: "in B", wide: true, least: 110 }] : []),
      { field: "expected", title: sides[0], text: side("expected"), wide: true, least: 100 },
      { field: "found", title: sides[1], text: side("found"), wide: true, least: 100 },
      {
        field: "explains",
        title: "explains",
        right: true,
        least: 80,
        text: (x) => (x === null ? NONE : percent(x)),
      },
      ...(engines && rows.some((row) => row.readers) ? [{ field: "readers", title: "read by", wide: true, least: 110 }] : []),
      { field: "fix", title: "fix", wide: true, least: 220, grow: 3 },
    ],
  });
}

/** Return the kinds that occur, in words. */
function kindTexts(kinds) {
  const box = element("div", {});
  for (const [kind, text] of Object.entries(kinds)) {
    const causes = element("dl", { class: "causes" });
    for (const [who, words] of Object.entries(text.causes))
      causes.append(element("div", {}, element("dt", {}, who), element("dd", {}, words)));
    box.append(
      element(
        "details",
        { class: "kind" },
        element("summary", {}, element("code", {}, kind), ` ${text.means.split(". ")[0].replace(/\.$/, "")}`),
        paragraph(text.means),
        element("p", {}, element("b", {}, "In numbers: "), text.numbers),
        element("p", {}, element("b", {}, "Usual cause")),
        causes,
        element("p", {}, element("b", {}, "Fix: "), text.fix),
      ),
    );
  }
  return box;
}
