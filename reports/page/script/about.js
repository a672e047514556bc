// What the result depends on, what is allowed and why, and what is not claimed.

function facts(pairs) {
  const list = element("dl", { class: "facts" });
  for (const [term, text] of pairs)
    if (text !== undefined && text !== null && text !== "")
      list.append(element("div", {}, element("dt", {}, term), element("dd", {}, name(text))));
  return list;
}

function aboutSection(head, states, files) {
  const strata = states ? Object.entries(states.strata || {}).map(([stratum, n]) => `${n} ${stratum}`) : [];
  const parts = [
    facts([
      ...Object.entries(head.versions),
      ["frozen states", states?.count],
      ["seed", states ? String(states.seed) : null],
      ["hash of the states", states?.sha256],
      ["strata", strata.join(", ")],
      ["--tolerance", head.tolerance],
      ...files,
    ]),
  ];
  if (head.tolerances?.length)
    parts.push(
      table({
        caption: "Tolerances, with reasons",
        rows: head.tolerances.map((line) => ({ ...line, judged: line.rows.join(", ") })),
        wrap: true,
        layout: "fitColumns",
        columns: [
          { field: "name", title: "name", wide: true, least: 90, filter: false },
          { field: "rule", title: "rule", wide: true, least: 200, grow: 2, filter: false },
          { field: "judged", title: "judges", wide: true, least: 130, filter: false },
          { field: "reason", title: "reason", wide: true, least: 200, grow: 2, filter: false },
        ],
      }),
    );
  const list = element("ul", {});
  for (const claim of head.claims) list.append(element("li", {}, claim));
  return [
    section("about", "Versions, states, tolerances", "Versions", ...parts),
    section("claims", "What this report does not claim", "Limits", list),
  ];
}

function missingNotice(head) {
  if (!head.missing?.length) return null;
  const views = head.missing.join(", ");
  return paragraph(`This result was saved without its side file of arrays. Missing here: ${views}.`, "notice");
}
