import { parseExact } from "#shared/json/exact.ts";

/** Called with each event of a stream; `data` is its parsed JSON, null if it is not JSON. */
export type OnEvent = (event: string, data: unknown) => void;

/**
 * Creates a reader of server-sent events (WHATWG HTML, section 9.2): pass it the text as it arrives. It takes one data
 * line for each event, as the service writes them, and ignores comments and ids.
 */
export function createEventReader(onEvent: OnEvent): (text: string) => void {
  let rest = "";
  let event = "message";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, name = "", value = ""] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
      if (name === "event") event = value;
      if (name === "data") onEvent(event, parseJson(value));
      if (line === "") event = "message";
    }
  };
}

/** Parses JSON, of octets in UTF-8; null if it is none. */
export function parseJson(text: string | Buffer): unknown {
  try {
    return parseExact(text.toString(), "value");
  } catch {
    return null;
  }
}
