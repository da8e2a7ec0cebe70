import { isTag, isText, type ChildNode, type Document, type Element } from "domhandler";

/** Text of a page that visitors see. */
interface VisibleText {
  /** Text with collapsed white space. Blocks are separated by a space. */
  readonly text: string;
  /** Whether the text was cut at the limit. */
  readonly truncated: boolean;
}

/** Maximum length of the text, in characters. */
const MAX_TEXT = 2_000_000;
/** Elements never shown as text of the page (HTML, rendering, hidden elements), or only if scripts do not run. */
const UNSEEN = new Set(
  "script style template noscript title meta link base datalist iframe object audio video canvas svg math select textarea".split(
    " ",
  ),
);
/** Phrasing elements, which do not separate words. */
const INLINE = new Set(
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time tt u var wbr".split(
    " ",
  ),
);

/**
 * Returns the text below a node that is visible without scripts and style sheets. Leaves out elements hidden by
 * attribute.
 */
export function visibleText(root: Document | Element, limit = MAX_TEXT): VisibleText {
  const parts: string[] = [];
  let length = 0;
  let node: ChildNode | null = root.firstChild;
  while (node !== null && length <= limit) {
    if (isText(node)) {
      parts.push(node.data);
      length += node.data.length;
    }
    const element: Element | null = isTag(node) ? node : null;
    if (element !== null && !INLINE.has(element.name)) parts.push(" ");
    if (element !== null && element.firstChild !== null && !isUnseen(element)) {
      node = element.firstChild;
      continue;
    }
    while (node !== null && node.nextSibling === null) {
      const parent: Element | Document | null = node.parent as Element | Document | null;
      if (parent === null || parent === root) node = null;
      else {
        node = parent as Element;
        if (!INLINE.has((parent as Element).name)) parts.push(" ");
      }
    }
    node = node?.nextSibling ?? null;
  }
  const text = parts.join("").slice(0, limit).replaceAll(/\s+/g, " ").trim();
  return { text, truncated: length > limit };
}

function isUnseen({ name, attribs }: Element): boolean {
  if (UNSEEN.has(name) || Object.hasOwn(attribs, "hidden")) return true;
  const { style } = attribs;
  return style !== undefined && /(?:^|;)\s{0,9}display\s{0,9}:\s{0,9}none\b/i.test(style.slice(0, 1000));
}
