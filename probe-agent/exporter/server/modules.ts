import { readModules } from "#shared/blackbox/read-modules.ts";
import { loadModulesFile, whyUnreadable, type LoadedModules as LoadedFile } from "#shared/process/module-files.ts";

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
export type LoadedModules = LoadedFile;

/** Reads the modules of a file; null: the built-in ones. Each fault is a line that begins with file, line and column. */
export function loadModules(file: string | null): LoadedModules {
  if (file !== null) return loadModulesFile(file);
  const read = readModules(BUILT_IN, whyUnreadable);
  if (!read.ok) throw new Error(`built-in modules: ${read.problems.map(({ message }) => message).join("; ")}`);
  return read;
}
