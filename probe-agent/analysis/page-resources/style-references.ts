/** What a style sheet's text refers to. */
export interface StyleReference {
  readonly address: string;
  readonly kind: "import" | "font" | "image";
  /** The conditions of an @import. */
  readonly media: string;
}

const MAX_CHARACTERS = 500_000;
const MAX_REFERENCES = 500;
// Each alternative begins with a different word, so that nothing is read twice.
const TOKEN =
  /@import\s+(?:url\(\s*)?(?:"([^"\n]{1,8192})"|'([^'\n]{1,8192})'|([^\s"'();]{1,8192}))\s*\)?([^;{}]{0,500})|@namespace[^;{}]{0,500}|(@font-face)|([{}])|url\(\s*(?:"([^"\n]{1,8192})"|'([^'\n]{1,8192})'|([^\s"'()]{1,8192}))\s*\)/gi;

/**
 * What a browser may fetch for a style sheet: @import, the first source of each @font-face that is no EOT file
 * (`allFonts`: every one, as a browser that does not know the first one's format goes on), and url() of declarations. Which
 * rules apply to the page is not looked at.
 */
export function styleReferences(css: string, allFonts = false): StyleReference[] {
  const references: StyleReference[] = [];
  const text = withoutComments(css.slice(0, MAX_CHARACTERS));
  let font: "no" | "opening" | "inside" | "done" = "no";
  for (const match of text.matchAll(TOKEN)) {
    const [, importDouble, importSingle, importBare, conditions, face, brace, double, single, bare] = match;
    const imported = importDouble ?? importSingle ?? importBare;
    const address = double ?? single ?? bare;
    if (imported !== undefined)
      references.push({ address: imported, kind: "import", media: mediaOf(conditions ?? "") });
    else if (face !== undefined) font = "opening";
    else if (brace === "{") font = font === "opening" ? "inside" : "no";
    else if (brace === "}") font = "no";
    else if (address !== undefined && font === "inside") {
      // Written first for Internet Explorer alone; browsers of today pass over it.
      if (/\.eot(?:[?#]|$)/i.test(address)) continue;
      references.push({ address, kind: "font", media: "" });
      font = allFonts ? "inside" : "done";
    } else if (address !== undefined && font === "no") references.push({ address, kind: "image", media: "" });
    if (references.length >= MAX_REFERENCES) break;
  }
  return references;
}

/** A comment that is not closed takes the rest (CSS Syntax 3). */
function withoutComments(css: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let open = css.indexOf("/*"); open >= 0; open = css.indexOf("/*", at)) {
    parts.push(css.slice(at, open));
    const close = css.indexOf("*/", open + 2);
    if (close < 0) return parts.join(" ");
    at = close + 2;
  }
  return [...parts, css.slice(at)].join(" ");
}

/** The media query behind layer() and supports(). */
function mediaOf(conditions: string): string {
  return withoutSupports(conditions.replace(/\blayer(?:\([^)]*\))?/i, "")).trim();
}

function withoutSupports(conditions: string): string {
  const start = conditions.search(/\bsupports\(/i);
  const end = start === -1 ? -1 : conditions.indexOf(")", start);
  return end === -1 ? conditions : conditions.slice(0, start) + conditions.slice(end + 1);
}
