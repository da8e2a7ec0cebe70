/** Maximum number of addresses that are pasted at once. */
const MOST_LINES = 50;

/** An address that was pasted, with the name that follows it. */
export interface PastedLine {
  readonly address: string;
  /** Empty: the monitor is named by its address. */
  readonly name: string;
}

/**
 * Reads pasted lines: an address, then a name if there is more. Empty lines, and those that begin with "#", are skipped.
 * Returns null if there are more than MOST_LINES. Pure.
 */
export function readLines(text: string): readonly PastedLine[] | null {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return lines.length > MOST_LINES ? null : lines.map(readLine);
}

function readLine(line: string): PastedLine {
  const [address = "", ...rest] = line.split(/[\s,;]+/);
  return { address, name: rest.join(" ") };
}

/** Returns the body of the creation of a monitor for an address: a URL or a site is http, host:port a TCP port. Pure. */
export function bodyOf({ address, name }: PastedLine, tags: readonly string[]): Record<string, unknown> {
  const named = { ...(name === "" ? {} : { name }), ...(tags.length === 0 ? {} : { tags }), notify_email: true };
  const port = /^([^/:]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(address);
  if (port === null) return { url: address, check_type: "http", ...named };
  const [, host = "", number = ""] = port;
  return { url: host.replaceAll(/[[\]]/g, ""), check_type: "port", port: Number(number), ...named };
}
