import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** A script that pages load. */
interface PageScript {
  /** Path at the service and at the pages' own domains; another content has another path. */
  readonly path: string;
  readonly text: string;
}

const TEXTS = {
  "refresh.js": readFileSync(new URL("refresh.js", import.meta.url), "utf8"),
  // The name by which refresh.js imports it.
  "idiomorph.js": readFileSync(createRequire(import.meta.url).resolve("idiomorph/dist/idiomorph.esm.js"), "utf8"),
} as const;

const HASH = createHash("sha256").update(Object.values(TEXTS).join("\0")).digest("base64url").slice(0, 16);

const pathOf = (name: keyof typeof TEXTS): string => `/assets/status-page-${HASH}/${name}`;

/** Path of the script that keeps a page fresh. */
export const REFRESH_PATH = pathOf("refresh.js");

/** The script that keeps a page fresh, and the library that it imports. */
export const PAGE_SCRIPTS: readonly PageScript[] = (["refresh.js", "idiomorph.js"] as const).map((name) => ({
  path: pathOf(name),
  text: TEXTS[name],
}));
