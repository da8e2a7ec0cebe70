import { completeUrl } from "#shared/internet/target-url.ts";

/** The server that an ssl monitor checks, or the field that cannot be read. */
type TlsTarget =
  | {
      readonly ok: true;
      /** Lower-case A-labels without final dot, or an address without brackets. */
      readonly host: string;
      readonly port: number;
    }
  | { readonly ok: false; readonly field: "url" | "port" };

const HTTPS_PORT = 443;

/**
 * Reads a host, host:port or https URL. `port` is that of the monitor; null: that of the text, or 443. A port in both
 * must be the same.
 */
export function readTlsTarget(text: string, port: number | null): TlsTarget {
  const url = URL.parse(completeUrl(text) ?? "");
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.password !== "") {
    return { ok: false, field: "url" };
  }
  const { hostname } = url;
  const own = url.port === "" ? null : Number(url.port);
  if (own === 0 || hostname === "") return { ok: false, field: "url" };
  if (own !== null && port !== null && own !== port) return { ok: false, field: "port" };
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");
  return { ok: true, host, port: port ?? own ?? HTTPS_PORT };
}
