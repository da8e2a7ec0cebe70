import { isTag, type Element } from "domhandler";
import { attribute } from "#probe-agent/analysis/html/page.ts";

const HIDING_STYLE = /(?:^|;)\s{0,9}(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)\b/i;

/**
 * Makes a function that reports whether an element is hidden from sight and from screen readers by its attributes or
 * those of an ancestor. axe does not check such elements. Elements that style sheets hide are not recognized. The
 * function checks each element once.
 */
export function hiddenElementFinder(): (element: Element) => boolean {
  const known = new Map<Element, boolean>();
  return (element) => {
    const visited: Element[] = [];
    let hidden = false;
    for (let at: Element | null = element; at !== null && !hidden; at = parentOf(at)) {
      const cached = known.get(at);
      hidden = cached ?? hides(at);
      visited.push(at);
      if (cached !== undefined) break;
    }
    for (const one of visited) known.set(one, hidden);
    return hidden;
  };
}

function parentOf({ parent }: Element): Element | null {
  return parent !== null && isTag(parent) ? parent : null;
}

function hides(element: Element): boolean {
  if (Object.hasOwn(element.attribs, "hidden") || attribute(element, "aria-hidden") === "true") return true;
  return HIDING_STYLE.test((element.attribs["style"] ?? "").slice(0, 1000));
}
