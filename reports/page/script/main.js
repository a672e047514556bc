// The page comes to life: data, colours, print.

/** List the parts of the report that there are. */
function listParts() {
  const list = document.getElementById("parts");
  list.replaceChildren();
  for (const part of document.querySelectorAll("main section")) {
    list.append(element("li", {}, element("a", { href: `#${part.id}` }, part.dataset.short)));
  }
}

/** Let the reader choose dark or light; at first it is what the system asks for. */
function themeSwitch() {
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  const button = element("button", { type: "button", click: () => set(current() === "dark" ? "light" : "dark") });
  const current = () => document.documentElement.dataset.theme || (dark() ? "dark" : "light");
  function set(theme) {
    document.documentElement.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light colours" : "Dark colours";
    redraw();
  }
  set(current());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => set(dark() ? "dark" : "light"));
  // Paper is white.
  let before = "";
  addEventListener("beforeprint", () => {
    before = current();
    set("light");
    redraw(true);
  });
  addEventListener("afterprint", () => set(before));
  return button;
}

function start() {
  const head = JSON.parse(document.getElementById("head").textContent);
  document.getElementById("theme").append(themeSwitch());
  const content = document.getElementById("content");
  if (head.command === "diff") pairPage(head, content);
  else checkPage(head, content);
  listParts();
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => charts.forEach((made) => made.resize()));
  });
}

start();
