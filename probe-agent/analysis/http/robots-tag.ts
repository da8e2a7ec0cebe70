/** Directives of one X-Robots-Tag field for one crawler. */
interface RobotsTag {
  /** Product name of the crawler in lower case; "*" for all crawlers. */
  readonly agent: string;
  /** In lower case, with their values, e.g. noindex or max-snippet:20. */
  readonly directives: readonly string[];
}

/** Directives with a value. Their names are not crawler names (Google, Robots meta tag specifications). */
const VALUED = new Set(["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"]);
const MAX_CHARACTERS = 8192;
const MAX_ENTRIES = 100;

/** Parses the values of all X-Robots-Tag fields. A list of directives can follow the name of its crawler. */
export function parseRobotsTags(values: readonly string[]): RobotsTag[] {
  const tags: { agent: string; directives: string[] }[] = [];
  let entries = 0;
  for (const value of values) {
    let tag = { agent: "*", directives: [] as string[] };
    tags.push(tag);
    for (const element of splitElements(value.slice(0, MAX_CHARACTERS).toWellFormed())) {
      const [head = "", name] = /^([a-z0-9_*-]{1,100})[ \t]*:/.exec(element) ?? [];
      const agent = name === undefined || VALUED.has(name) ? null : name;
      const directive = agent === null ? element : element.slice(head.length).trimStart();
      if (agent !== null) {
        tag = { agent, directives: [] };
        tags.push(tag);
      }
      entries += 1;
      if (directive !== "" && entries <= MAX_ENTRIES) tag.directives.push(withBareColon(directive));
    }
  }
  return tags.filter(({ directives }) => directives.length > 0);
}

/** Removes the white space around the first colon. */
function withBareColon(directive: string): string {
  const colon = directive.indexOf(":");
  return colon === -1 ? directive : `${directive.slice(0, colon).trimEnd()}:${directive.slice(colon + 1).trimStart()}`;
}

/** Splits a value at its commas, in lower case. The date of unavailable_after keeps the comma after its weekday. */
function splitElements(value: string): string[] {
  const elements: string[] = [];
  for (const part of value.toLowerCase().split(",")) {
    const text = part.trim();
    const last = elements.at(-1);
    const continues = last !== undefined && /unavailable_after[ \t]*:[ \t]*[a-z]+$/.test(last) && /^\d/.test(text);
    if (continues) elements[elements.length - 1] = `${last}, ${text}`;
    else if (text !== "") elements.push(text);
  }
  return elements;
}

/** Reports whether a directive applies to every crawler. The directive "none" means noindex and nofollow. */
export function forbidsAll(tags: readonly RobotsTag[], directive: "noindex" | "nofollow"): boolean {
  return tags.some(
    ({ agent, directives }) => agent === "*" && (directives.includes(directive) || directives.includes("none")),
  );
}
