import { isIP } from "node:net";
import type { Kind } from "#shared/settings/kind.ts";

/** The mail server that takes the service's mail. */
export interface MailServer {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** implicit: TLS from the start. required, offered: STARTTLS always, or if the server offers it. */
  readonly tls: "implicit" | "required" | "offered" | "never";
  /** Whether the server's certificate must be valid. */
  readonly isVerified: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

const MODES = { required: "required", offered: "offered", never: "never" } as const;
const OPTIONS = new Set(["starttls", "verify"]);
const MOST_CHARACTERS = 2_048;

/**
 * The URL of a mail server. With a user STARTTLS is required unless the URL says otherwise, so that a password is not
 * sent in clear by mistake; without one it is used if the server offers it.
 */
export const mailServer: Kind<MailServer> = {
  allowed:
    "smtp://host:port or smtps://host:port, with user:password@ if needed, and ?starttls=required, offered or never, ?verify=no",
  parse(value) {
    if (value.length > MOST_CHARACTERS || /[\s\\#\p{Cc}]/u.test(value)) return undefined;
    const url = URL.parse(value);
    if (url === null || (url.protocol !== "smtp:" && url.protocol !== "smtps:")) return undefined;
    const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
    if (host === "" || (url.pathname !== "" && url.pathname !== "/")) return undefined;
    const names = [...url.searchParams.keys()];
    if (new Set(names).size !== names.length || names.some((name) => !OPTIONS.has(name))) return undefined;
    const credentials = readCredentials(url);
    const tls = readMode(url, credentials !== null);
    const verify = url.searchParams.get("verify") ?? "yes";
    if (credentials === undefined || tls === undefined || (verify !== "yes" && verify !== "no")) return undefined;
    const standard = tls === "implicit" ? 465 : credentials === null ? 25 : 587;
    const port = url.port === "" ? standard : Number(url.port);
    if (port === 0) return undefined;
    return { host: decodeName(host), port, tls, isVerified: verify === "yes", credentials };
  },
  explain(value) {
    const userInfo = /^smtps?:\/\/(.*)@/isu.exec(value.slice(0, MOST_CHARACTERS))?.[1];
    return userInfo === undefined || isEncoded(userInfo) ? undefined : ENCODING;
  },
};

const ENCODING =
  "in user and password write # as %23, / as %2F, ? as %3F, % as %25, \\ as %5C and a space as %20, " +
  "as in smtp://user:pass%23word@host:587";

/** Reports whether user and password are percent-encoded as far as a URL needs it. */
function isEncoded(userInfo: string): boolean {
  if (/[#/?\\\s]/u.test(userInfo)) return false;
  try {
    decodeURIComponent(userInfo);
    return true;
  } catch {
    return false;
  }
}

function readMode(url: URL, hasUser: boolean): MailServer["tls"] | undefined {
  const given = url.searchParams.get("starttls");
  if (url.protocol === "smtps:") return given === null ? "implicit" : undefined;
  if (given === null) return hasUser ? "required" : "offered";
  return Object.hasOwn(MODES, given) ? MODES[given as keyof typeof MODES] : undefined;
}

/** Returns the decoded credentials, null without a user; undefined if they are malformed. */
function readCredentials({ username, password }: URL): MailServer["credentials"] | undefined {
  if (username === "" && password === "") return null;
  if (username === "" || password === "") return undefined;
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

/** Hosts of non-special URLs are percent-encoded, and names are not changed to lower case. */
function decodeName(host: string): string {
  return isIP(host) === 0 ? host.toLowerCase() : host;
}
