import type { Network } from "#test/lab/driver.ts";

/** Result of `curl`. */
export interface Curled {
  /** Exit status (curl(1), EXIT CODES); 0 is success. */
  readonly exit: number | null;
  readonly code: number;
  readonly redirects: number;
  readonly finalUrl: string;
  /** 1.0, 1.1 or 2; 0 without an answer. */
  readonly httpVersion: string;
  readonly ip: string;
  readonly port: number;
  /** Number of body octets received. */
  readonly size: number;
  /** Absolute target of the last answer's redirect; null if there is none or if it was followed. */
  readonly redirectUrl: string | null;
  /** Header fields of the last answer in wire order, as sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Status codes of every header received, including 1xx. */
  readonly codes: readonly number[];
}

/**
 * Fetches over IPv4, by default without following redirects and with one connection for each request. Does not decode,
 * and does not keep the body.
 */
export async function curl(
  network: Network,
  node: string,
  url: string,
  rootFile: string,
  options: readonly string[] = [],
): Promise<Curled> {
  const line = ["curl", "-4", "-sS", "-g", "--cacert", rootFile, "-o", "/dev/null", "-D", "-", "-w", "\\n%{json}"];
  const { code, stdout } = await network.run(node, [...line, "-H", "Connection: close", ...options, url]);
  const cut = stdout.lastIndexOf("\n");
  const told = JSON.parse(stdout.slice(cut + 1)) as Record<string, string | number | null>;
  // Trailers are a separate block.
  const blocks = stdout
    .slice(0, cut)
    .split("\r\n\r\n")
    .map((block) => block.trim());
  const heads = blocks.filter((block) => block.startsWith("HTTP/"));
  const [, ...fields] = (heads.at(-1) ?? "").split("\r\n");
  return {
    exit: code,
    code: Number(told["http_code"]),
    redirects: Number(told["num_redirects"]),
    finalUrl: String(told["url_effective"]),
    httpVersion: String(told["http_version"]),
    ip: String(told["remote_ip"]),
    port: Number(told["remote_port"]),
    size: Number(told["size_download"]),
    redirectUrl: told["redirect_url"] === null ? null : String(told["redirect_url"]),
    headers: fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon), field.slice(colon + 1).trim()] as const;
    }),
    codes: heads.map((head) => Number(/^HTTP\/\S+ (\d+)/.exec(head)?.[1])),
  };
}
