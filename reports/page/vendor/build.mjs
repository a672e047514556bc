// Bundle the libraries of the HTML report: `npm ci && npm run build`, run in this folder.
import { readFile, writeFile } from "node:fs/promises";

import { build } from "esbuild";

const PARTS = ["echarts", "zrender", "tslib", "tabulator-tables"];

// zrender keeps the widths of texts in a plain object, so that a text "__proto__" writes into every object of the page.
const cache = {
  name: "cache without prototype",
  setup({ onLoad }) {
    onLoad({ filter: /zrender[\\/]lib[\\/]core[\\/]LRU\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text.replaceAll("this._map = {};", "this._map = Object.create(null);");
      if (contents === text) throw new Error("the cache of zrender is another one: look whether it needs this still");
      return { contents };
    });
  },
};

await build({
  entryPoints: ["entry.mjs"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "vendor",
  target: "es2020",
  charset: "ascii",
  legalComments: "none", // in LICENSES.txt, whole
  plugins: [cache],
  define: { "process.env.NODE_ENV": '"production"' },
  outfile: "vendor.min.js",
});

await build({
  entryPoints: ["node_modules/tabulator-tables/dist/css/tabulator_simple.css"],
  minify: true,
  charset: "ascii",
  legalComments: "none",
  outfile: "vendor.min.css",
});

const texts = [];
for (const name of PARTS) {
  const folder = `node_modules/${name}`;
  const { version } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
  texts.push(`==== ${name} ${version} ====`);
  for (const file of ["LICENSE", "LICENSE.txt", "NOTICE"]) {
    const text = await readFile(`${folder}/${file}`, "utf8").catch(() => "");
    if (text) texts.push(text.replaceAll("\r\n", "\n").trim());
  }
}
await writeFile("LICENSES.txt", `${texts.join("\n\n")}\n`);
