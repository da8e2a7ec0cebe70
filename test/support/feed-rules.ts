import { Parser } from "htmlparser2";

/** An element of an XML document. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** Parses XML without any of the leniency for HTML. Test/browser has it parsed by Chromium's XML parser too. */
export function parseXml(xml: string): Element {
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const element = { name, attributes, children: [], text: "" };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      ontext(text) {
        const element = open.at(-1);
        if (element !== undefined) element.text += text;
      },
      onclosetag(name, isImplied) {
        const element = open.pop();
        if (element?.name !== name || (isImplied && element.children.length > 0)) throw new Error(`unclosed ${name}`);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  const [document, ...others] = root.children;
  if (open.length !== 1 || document === undefined || others.length > 0) throw new Error("not one root element");
  return document;
}

/** Returns the children of an element with a name. */
export const all = ({ children }: Element, name: string): Element[] => children.filter((child) => child.name === name);

/** Returns the text of the first child with a name. */
export const textOf = (element: Element, name: string): string | undefined => all(element, name)[0]?.text;

// What the formats require of a feed. Each check returns the rules that a feed breaks, as sentences; [] if it is valid.

const DAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun";
const MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
/** RFC 822, section 5, with a year of four digits as RSS 2.0 prefers. */
const RFC822 = new RegExp(
  String.raw`^(?:(?:${DAYS}), )?\d{1,2} (?:${MONTHS}) \d{4} \d\d:\d\d(?::\d\d)? (?:GMT|UT|[+-]\d{4})$`,
);
/** RFC 3339, section 5.6. */
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
/** RFC 3987: a scheme, then no space, control, quote or other character that an IRI must encode. */
const IRI = /^[a-z][a-z0-9+.-]*:[^\s"<>\\^`{|}\p{C}]+$/iu;

const isTime = (text: string, form: RegExp): boolean => form.test(text) && !Number.isNaN(Date.parse(text));
const isAddress = (text: string): boolean => IRI.test(text) && URL.canParse(text);

/** A feed under check. */
class Findings {
  readonly broken: string[] = [];

  require(holds: boolean, rule: string): void {
    if (!holds) this.broken.push(rule);
  }

  /** The one child with a name; its text must pass. */
  requireOne(parent: Element, name: string, where: string, passes: (text: string) => boolean = () => true): void {
    const found = all(parent, name);
    this.require(found.length === 1, `${where} has ${found.length} <${name}> instead of one`);
    for (const { text } of found) this.require(passes(text), `<${name}> of ${where} cannot be ${JSON.stringify(text)}`);
  }

  atMostOne(parent: Element, names: readonly string[], where: string): void {
    for (const name of names) this.require(all(parent, name).length <= 1, `${where} has more than one <${name}>`);
  }

  requireUnique(values: readonly unknown[], what: string): void {
    this.require(new Set(values).size === values.length, `${what} is not unique`);
  }
}

const isFilled = (text: string): boolean => text.trim() !== "";

/** Checks RSS 2.0 (the specification of the RSS Advisory Board), with the guid and the date that readers need. */
export function checkRss(xml: string): readonly string[] {
  const rss = parseXml(xml);
  const findings = new Findings();
  findings.require(rss.name === "rss" && rss.attributes["version"] === "2.0", "the root is not <rss version=2.0>");
  const channels = all(rss, "channel");
  findings.require(channels.length === 1, "<rss> has not one <channel>");
  for (const channel of channels) {
    findings.requireOne(channel, "title", "the channel", isFilled);
    findings.requireOne(channel, "link", "the channel", isAddress);
    findings.requireOne(channel, "description", "the channel", isFilled);
    findings.atMostOne(channel, ["language", "pubDate", "lastBuildDate", "ttl", "generator"], "the channel");
    for (const name of ["pubDate", "lastBuildDate"]) {
      for (const { text } of all(channel, name))
        findings.require(isTime(text, RFC822), `${name} ${text} is not RFC 822`);
    }
    const items = all(channel, "item");
    for (const [index, item] of items.entries()) {
      const where = `item ${index}`;
      const hasText = ["title", "description"].some((name) => isFilled(textOf(item, name) ?? ""));
      findings.require(hasText, `${where} has neither a title nor a description`);
      findings.atMostOne(item, ["title", "link", "description", "author", "comments", "enclosure", "source"], where);
      findings.requireOne(item, "link", where, isAddress);
      findings.requireOne(item, "pubDate", where, (text) => isTime(text, RFC822));
      findings.requireOne(item, "guid", where, isFilled);
      for (const { attributes, text } of all(item, "guid")) {
        findings.require(
          attributes["isPermaLink"] === "false" || isAddress(text),
          `the guid of ${where} is no address`,
        );
      }
    }
    findings.requireUnique(
      items.map((item) => textOf(item, "guid")),
      "the guid of an item",
    );
  }
  return findings.broken;
}

/** Checks Atom (RFC 4287, section 4). */
export function checkAtom(xml: string): readonly string[] {
  const feed = parseXml(xml);
  const findings = new Findings();
  const isAtom = feed.name === "feed" && feed.attributes["xmlns"] === "http://www.w3.org/2005/Atom";
  findings.require(isAtom, "the root is not <feed> of Atom");
  const entries = all(feed, "entry");
  for (const [where, element] of [
    ["the feed", feed] as const,
    ...entries.map((entry, index) => [`entry ${index}`, entry] as const),
  ]) {
    findings.requireOne(element, "id", where, (text) => IRI.test(text));
    findings.requireOne(element, "title", where, isFilled);
    findings.requireOne(element, "updated", where, (text) => isTime(text, RFC3339));
    findings.atMostOne(element, ["published", "content", "summary", "subtitle", "rights", "logo", "icon"], where);
    for (const { text } of all(element, "published")) {
      findings.require(isTime(text, RFC3339), `published ${text} of ${where} is not RFC 3339`);
    }
    for (const author of all(element, "author")) findings.requireOne(author, "name", `an author of ${where}`, isFilled);
    for (const { attributes } of all(element, "category")) {
      findings.require((attributes["term"] ?? "") !== "", `a category of ${where} has no term`);
    }
    const links = all(element, "link").map(({ attributes }) => attributes);
    for (const { href = "" } of links) findings.require(isAddress(href), `a link of ${where} cannot be ${href}`);
    findings.requireUnique(
      links.filter(({ rel = "alternate" }) => rel === "alternate").map(({ type, hreflang }) => `${type} ${hreflang}`),
      `the type of the alternate link of ${where}`,
    );
  }
  const selves = all(feed, "link").filter(({ attributes }) => attributes["rel"] === "self");
  findings.require(selves.length === 1, "the feed has not one link to itself");
  for (const [index, entry] of entries.entries()) {
    const hasAuthor = all(entry, "author").length > 0 || all(feed, "author").length > 0;
    findings.require(hasAuthor, `neither entry ${index} nor the feed has an author`);
    const hasLink = all(entry, "link").some(({ attributes: { rel = "alternate" } }) => rel === "alternate");
    findings.require(hasLink || all(entry, "content").length > 0, `entry ${index} has neither content nor a link`);
    for (const { attributes, children } of all(entry, "content")) {
      const isText = ["text", "html", undefined].includes(attributes["type"]);
      findings.require(
        !isText || children.length === 0,
        `the content of entry ${index} has elements that are not text`,
      );
    }
  }
  findings.requireUnique(
    entries.map((entry) => textOf(entry, "id")),
    "the id of an entry",
  );
  return findings.broken;
}

/** Checks JSON Feed 1.1. */
export function checkJsonFeed(json: string): readonly string[] {
  const feed = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const findings = new Findings();
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  findings.require(feed["version"] === "https://jsonfeed.org/version/1.1", "the version is not 1.1");
  findings.require(isText(feed["title"]), "the feed has no title");
  for (const name of ["home_page_url", "feed_url"]) {
    const value = feed[name];
    findings.require(isText(value) && isAddress(value), `${name} cannot be ${String(value)}`);
  }
  const items = feed["items"];
  findings.require(Array.isArray(items), "the feed has no items");
  const rows = (Array.isArray(items) ? items : []) as Readonly<Record<string, unknown>>[];
  for (const [index, item] of rows.entries()) {
    findings.require(isText(item["id"]), `item ${index} has no id that is a string`);
    const contents = ["content_html", "content_text"].filter((name) => name in item);
    const hasContent = contents.length > 0 && contents.every((name) => isText(item[name]));
    findings.require(hasContent, `item ${index} has no content`);
    if ("url" in item) findings.require(isText(item["url"]) && isAddress(item["url"]), `item ${index} has a wrong url`);
    for (const name of ["date_published", "date_modified"].filter((date) => date in item)) {
      const value = item[name];
      findings.require(isText(value) && isTime(value, RFC3339), `${name} of item ${index} is not RFC 3339`);
    }
    const tags = item["tags"] ?? [];
    findings.require(Array.isArray(tags) && tags.every(isText), `the tags of item ${index} are not texts`);
  }
  findings.requireUnique(
    rows.map(({ id }) => id),
    "the id of an item",
  );
  return findings.broken;
}
