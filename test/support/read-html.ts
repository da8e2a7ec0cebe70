import { Parser } from "htmlparser2";

/** What a document consists of. */
interface ReadHtml {
  /** Names of its elements and attributes, each once, in order of the alphabet: "a", "a[href]". */
  readonly names: readonly string[];
  /** Ids of its elements, in order. */
  readonly ids: readonly string[];
  /** Text of all elements. */
  readonly text: string;
}

/** Reads a document as a browser does. */
export function readHtml(html: string): ReadHtml {
  const names = new Set<string>();
  const ids: string[] = [];
  let text = "";
  const parser = new Parser({
    onopentag(name, attributes) {
      names.add(name);
      for (const attribute of Object.keys(attributes)) names.add(`${name}[${attribute}]`);
      if (attributes["id"] !== undefined) ids.push(attributes["id"]);
    },
    ontext(part) {
      text += part;
    },
  });
  parser.end(html);
  return { names: [...names].toSorted(), ids, text };
}
