import { existsSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { findChromium, searchPathOf } from "#shared/process/chromium.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { findFaketime } from "#test/support/faketime.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

/** Debian's browser starts its sandbox with this program (package chromium-sandbox). */
const SANDBOX = "/usr/lib/chromium/chrome-sandbox";

/** Programs of others that answers are compared with or that read our scripts, with their Debian packages. */
const PROGRAMS = [
  ["cron", "cron"],
  ["fish", "fish"],
  ["jq", "jq"],
  ["mtr", "mtr-tiny"],
  ["prometheus", "prometheus"],
  ["prometheus-blackbox-exporter", "prometheus-blackbox-exporter"],
  ["promtool", "prometheus"],
  ["protoc", "protobuf-compiler"],
  ["python3", "python3"],
  ["zsh", "zsh"],
] as const;

/**
 * Returns what this machine lacks of what the gate tests, one line each. Suites skip what they cannot run, so that they
 * can be used on any machine; the gate must not, because a test that is skipped there is a fault that lands.
 */
export async function findMissing(): Promise<readonly string[]> {
  const path = searchPathOf(process.env["PATH"]);
  const chromium = findChromium(process.env["VANTAGE_CHROMIUM"] ?? null, path);
  const missing: (string | null)[] = [
    (await hasRawSockets()) ? null : "raw sockets: run as root, with a compiler for raw-socket",
    (await hasIpv6()) ? null : "IPv6: nothing can listen on ::1",
    chromium === null ? "a browser: install Debian's chromium, or name one in VANTAGE_CHROMIUM" : null,
    existsSync(SANDBOX) ? null : "the browser's sandbox: install Debian's chromium-sandbox",
    whyNoLab("openssl", "sslscan", "testssl", "whois"),
    findFaketime() === undefined ? "libfaketime: install Debian's libfaketime" : null,
    ...PROGRAMS.map(([program, name]) =>
      path.some((folder) => existsSync(join(folder, program))) ? null : `${program}: install Debian's ${name}`,
    ),
  ];
  return missing.filter((line) => line !== null);
}

async function hasIpv6(): Promise<boolean> {
  const server = createServer().listen(0, "::1");
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
