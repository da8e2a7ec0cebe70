import { execFile } from "node:child_process";
import { ROOT } from "#test/laws/source-files.ts";

/** Reports whether the ICMP process can open its sockets here: raw-socket is built and this user has CAP_NET_RAW. */
export function hasRawSockets(): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(process.execPath, [`${ROOT}/probe-agent/net/icmp/main.ts`, "--self-test"], (error, stdout) => {
      resolve(error === null && (JSON.parse(stdout) as { readonly icmp4: boolean }).icmp4);
    });
  });
}
