import { splitHostPort } from "#shared/internet/host-port.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** A probe's message, split into the place it names and what it says about it. */
interface SplitMessage {
  /** Where a redirect led before the failure; null if there was none. */
  readonly redirectedTo: { readonly host: string; readonly port: number | null } | null;
  /** Port that the message names in front; null if it names none. */
  readonly port: number | null;
  /** The rest, printable, without a final full stop. */
  readonly words: string;
}

/** Maximum length of a message that is read. */
const MOST_READ = 1_000;
/** Maximum lengths in a sentence. */
const MOST_WORDS = 160;
const MOST_HOST = 80;

/**
 * Splits messages such as "192.0.2.1:443: connection timed out" and "after 1 redirect, at https://a.example/: ...".
 * The place in front differs between locations, so it would make one cause look like several.
 */
export function splitMessage(message: string, targetHost: string): SplitMessage {
  const { url, rest } = splitRedirect(message.slice(0, MOST_READ));
  const { port, words } = splitPlace(rest, targetHost);
  const line = toPlainLine(withoutResolver(words), MOST_WORDS);
  return {
    redirectedTo: url === null ? null : { host: toPlainLine(url.hostname, MOST_HOST), port: portOf(url) },
    port,
    words: line.endsWith(".") ? line.slice(0, -1) : line,
  };
}

function splitRedirect(message: string): { readonly url: URL | null; readonly rest: string } {
  const at = message.indexOf(", at ");
  const end = message.indexOf(": ", at);
  if (!message.startsWith("after ") || at < 0 || end < 0) return { url: null, rest: message };
  const place = message.slice(at + ", at ".length, end);
  const isUrl = place.startsWith("https://") || place.startsWith("http://");
  return { url: URL.parse(isUrl ? place : `https://${place}`), rest: message.slice(end + 2) };
}

function splitPlace(text: string, targetHost: string): { readonly port: number | null; readonly words: string } {
  const end = text.indexOf(": ");
  const place = end < 0 ? undefined : splitHostPort(text.slice(0, end));
  // A first word without a dot or a colon is not a place, unless it is the target.
  const isPlace = place !== undefined && !place.host.includes(" ");
  if (!isPlace || !(place.port !== null || /[.:]/.test(place.host) || place.host === targetHost)) {
    return { port: null, words: text };
  }
  return { port: place.port, words: text.slice(end + 2) };
}

/**
 * Removes "SERVFAIL for example.com from resolver 192.0.2.53" from the front: each location has other resolvers. What
 * follows is the resolver's explanation.
 */
function withoutResolver(words: string): string {
  const at = words.indexOf(" from resolver ");
  if (at < 0) return words;
  const end = words.indexOf(": ", at);
  return end < 0 ? "" : words.slice(end + 2);
}

function portOf({ protocol, port }: URL): number | null {
  if (port !== "") return Number(port);
  return protocol === "http:" ? 80 : 443;
}
