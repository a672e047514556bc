// Elements of the page. Texts enter as text nodes alone, so that a name is never markup.

/** Return an element; `attributes` with a function are listeners, children are elements or texts. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** Return a name out of a file: set apart, so that its writing direction turns nothing else. */
function name(text) {
  return element("bdi", { class: "name" }, String(text));
}

/** Return a section with a heading; the list of parts leads to it under its short name. */
function section(id, title, short, ...children) {
  const heading = element("h2", { id: `${id}-title` }, title);
  return element("section", { id, "aria-labelledby": `${id}-title`, "data-short": short }, heading, ...children);
}

function paragraph(text, kind) {
  return element("p", { class: kind }, text);
}

let numbered = 0;

/** Return a labelled choice; `options` are [value, text] pairs, `change` gets the value. */
function choice(label, options, chosen, change) {
  const id = `choice-${++numbered}`;
  const select = element("select", { id, change: () => change(select.value) });
  for (const [value, text] of options) select.append(element("option", { value }, text));
  select.value = chosen;
  return element("div", { class: "choice" }, element("label", { for: id }, label), select);
}

/** Return something that opens on request; its content is made when it is opened first. */
function folded(title, make) {
  const details = element("details", {}, element("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) {
      const box = element("div");
      details.append(box);
      make(box);
    }
  });
  return details;
}

/** Tell those who do not see it. */
function announce(text) {
  document.getElementById("said").textContent = text;
}

/** Copy text, also where a page opened from a file may not use the clipboard by itself. */
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { class: "unseen", readonly: true });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  announce(`${what} copied`);
}
