import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CHART_STYLE } from "#control-plane/core/charts/style.ts";
import { TOKENS } from "#control-plane/core/pages/tokens.ts";
import { createDocument, type Document } from "#control-plane/http/operations/document.ts";

/** Files of the dashboard by name, with their types. idiomorph swaps what has changed in a page. */
const FILES = {
  "style.css": { type: "text/css; charset=utf-8", url: new URL("../assets/style.css", import.meta.url) },
  "live.js": { type: "text/javascript; charset=utf-8", url: new URL("../assets/live.js", import.meta.url) },
  "controls.js": { type: "text/javascript; charset=utf-8", url: new URL("../assets/controls.js", import.meta.url) },
  "rows.js": { type: "text/javascript; charset=utf-8", url: new URL("../assets/rows.js", import.meta.url) },
  "idiomorph.js": {
    type: "text/javascript; charset=utf-8",
    url: new URL(import.meta.resolve("idiomorph/dist/idiomorph.esm.js")),
  },
  "icon.svg": { type: "image/svg+xml", url: new URL("../assets/icon.svg", import.meta.url) },
} as const;

const CONTENTS = Object.entries(FILES).map(([name, { type, url }]) => {
  const content = readFileSync(fileURLToPath(url));
  return { name, type, content: name === "style.css" ? `${TOKENS}${content.toString()}${CHART_STYLE}` : content };
});

/** Hash of all files, which is a part of their addresses: caches keep them for good. */
const VERSION = CONTENTS.reduce((hash, { content }) => hash.update(content), createHash("sha256"))
  .digest("hex")
  .slice(0, 16);

/** Path of the files. */
export const ASSETS_PATH = `/app/assets/${VERSION}`;

const DOCUMENTS: ReadonlyMap<string, Document> = new Map(
  CONTENTS.map(({ name, type, content }) => {
    return [name, createDocument(content, { type, cacheControl: "public, max-age=31536000, immutable" })];
  }),
);

/** Returns the file of a path below /app/assets; null if there is none. */
export function findAsset(version: string, name: string): Document | null {
  return version === VERSION ? (DOCUMENTS.get(name) ?? null) : null;
}
