import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { describeError } from "#shared/contracts/error-code.ts";
import { readModules, type ReadModules } from "#shared/blackbox/read-modules.ts";

/** Modules of an exporter without a file: those of the exporter's own example that need no service. */
const BUILT_IN = `
modules:
  http_2xx:
    prober: http
  http_post_2xx:
    prober: http
    http:
      method: POST
  tcp_connect:
    prober: tcp
  tls_connect:
    prober: tcp
    tcp:
      tls: true
  pop3s_banner:
    prober: tcp
    tcp:
      query_response:
        - expect: "^+OK"
      tls: true
  ssh_banner:
    prober: tcp
    tcp:
      query_response:
        - expect: "^SSH-2.0-"
        - send: "SSH-2.0-blackbox-ssh-check"
  irc_banner:
    prober: tcp
    tcp:
      query_response:
        - send: "NICK prober"
        - send: "USER prober prober prober :prober"
        - expect: "PING :([^ ]+)"
          send: "PONG \${1}"
        - expect: "^:[^ ]+ 001"
  grpc:
    prober: grpc
    grpc:
      tls: true
  grpc_plain:
    prober: grpc
  icmp:
    prober: icmp
`;

/** The modules in use, or the lines that say what is wrong with the file. */
export type LoadedModules =
  | (Extract<ReadModules, { ok: true }> & { readonly ok: true })
  | { readonly ok: false; readonly lines: readonly string[] };

/** Maximum size of a file in octets. */
const MOST_OCTETS = 8 * 1024 * 1024;

/** Reads the modules of a file; null: the built-in ones. Each fault is a line that begins with file, line and column. */
export function loadModules(file: string | null): LoadedModules {
  const name = file ?? "built-in modules";
  let source = BUILT_IN;
  if (file !== null) {
    try {
      if (statSync(file).size > MOST_OCTETS) return { ok: false, lines: [`${file}: has more than 8 MB`] };
      source = readFileSync(file, "utf8");
    } catch (error) {
      return { ok: false, lines: [`${file}: cannot be read: ${whyUnreadable(file) ?? describeError(error)}`] };
    }
  }
  const read = readModules(source, whyUnreadable);
  if (read.ok) return read;
  const lines = read.problems.map(({ place, message }) => {
    return `${name}${place === null ? "" : `:${place.line}:${place.column}`}: ${message}`;
  });
  return { ok: false, lines };
}

/** Returns why a file cannot be read, as the end of a sentence; null if it can. */
export function whyUnreadable(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isDirectory() ? "it is a directory" : null;
  } catch (error) {
    const code = describeError(error);
    return code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "this user may not read it" : code;
  }
}
