import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#test/support/free-port.ts";
import type { Issued } from "#test/servers/pki.ts";
import { until } from "#test/support/until.ts";

/** Whether this machine has the openssl command. */
export const HAS_OPENSSL = spawnSync("openssl", ["version"]).status === 0;

/** `openssl s_server` with a certificate of its own, and a second one for other keys. */
export interface OpensslServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts one with further arguments (`-cipher`, `-tls1`, ...). */
export async function startOpensslServer(
  certificates: readonly [Issued, Issued?],
  options: readonly string[],
): Promise<OpensslServer> {
  const folder = mkdtempSync(join(tmpdir(), "s-server-"));
  const files = certificates.flatMap((certificate, index) => {
    if (certificate === undefined) return [];
    const path = join(folder, `${index}.pem`);
    writeFileSync(path, certificate.pem + certificate.keyPem);
    return index === 0 ? ["-cert", path, "-key", path] : ["-dcert", path, "-dkey", path];
  });
  const port = await freePort();
  const child = spawn("openssl", ["s_server", "-accept", `127.0.0.1:${port}`, "-quiet", ...files, ...options], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  await untilListening(port);
  return {
    port,
    close: async () => {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Reports whether `openssl s_client` opens a session with this one suite (OpenSSL's name) and version (`-tls1_2`, ...). */
export function clientAgrees(port: number, version: string, suite: string): Promise<boolean> {
  const list = version === "-tls1_3" ? ["-ciphersuites", suite] : ["-cipher", `${suite}:@SECLEVEL=0`];
  const client = spawn("openssl", ["s_client", "-connect", `127.0.0.1:${port}`, version, ...list], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let shown = "";
  client.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString("latin1");
  });
  return new Promise((resolve) => {
    client.once("close", () => resolve(new RegExp(`Cipher is ${suite}$`, "m").test(shown)));
  });
}

async function untilListening(port: number): Promise<void> {
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
  await until(isOpen, "openssl s_server listens");
}
