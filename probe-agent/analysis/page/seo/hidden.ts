import { isTag, type Element } from "domhandler";
import { attribute } from "#probe-agent/analysis/html/page.ts";

const UNSEEN = /(?:^|;)\s{0,9}(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)\b/i;

/**
 * Tells of elements whether nobody is shown or read them out, by attributes of their own or of what they stand in; axe
 * leaves these alone. What style sheets hide is not known. Each element is looked at once.
 */
export function hiddenElements(): (element: Element) => boolean {
  const known = new Map<Element, boolean>();
  return (element) => {
    const way: Element[] = [];
    let hidden = false;
    for (let at: Element | null = element; at !== null && !hidden; at = parentOf(at)) {
      const told = known.get(at);
      hidden = told ?? hides(at);
      way.push(at);
      if (told !== undefined) break;
    }
    for (const one of way) known.set(one, hidden);
    return hidden;
  };
}

function parentOf({ parent }: Element): Element | null {
  return parent !== null && isTag(parent) ? parent : null;
}

function hides(element: Element): boolean {
  if (Object.hasOwn(element.attribs, "hidden") || attribute(element, "aria-hidden") === "true") return true;
  return UNSEEN.test((element.attribs["style"] ?? "").slice(0, 1000));
}
