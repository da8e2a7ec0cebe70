import { describe, expect, it } from "vitest";
import { readSourceFiles, type SourceFile } from "#test/laws/source-files.ts";

const product = readSourceFiles(["control-plane", "probe-agent", "shared", "deploy"]);
/** The two processes, and what both run. */
const processes = product.filter(({ path }) => /^(?:control-plane|probe-agent|shared\/process)\//.test(path));

/** Node's modules that can open a connection or send a datagram. */
const NETWORK = "http|https|http2|net|tls|dgram|dns|dns/promises|child_process|quic";
/** What they offer besides: listeners, classes of sockets that others opened, and pure functions. */
const HARMLESS = new Set([
  "createServer",
  "createTlsServer",
  "createSecureServer",
  "createSecureContext",
  "getCACertificates",
  "getCiphers",
  "isIP",
  "isIPv4",
  "isIPv6",
  "BlockList",
  "TLSSocket",
]);

/** The files and folders that may send something, each to one kind of peer. */
const SENDERS: readonly string[] = [
  // Looks up the address that this process listens on.
  "control-plane/checks/dispatch/grpc/connections.ts",
  // Receivers of webhooks: names are looked up, and their addresses checked before a connection.
  "control-plane/notify/webhooks/send/exchange.ts",
  "control-plane/notify/webhooks/send/lookup.ts",
  // The mail server of the settings, and no other.
  "shared/process/smtp-session.ts",
  // Runs this program as a child, and sends nothing.
  "control-plane/backups/schedule/runner.ts",
  // Tries a user namespace by the system's unshare(1), which sends nothing.
  "shared/process/chromium.ts",
  // Targets of jobs: each address is checked before a connection.
  "probe-agent/net/",
  // Targets of the exporter, and the system's resolver: each address is checked before a connection.
  "probe-agent/exporter/connect.ts",
  "probe-agent/exporter/resolve.ts",
  // Binds a socket to learn whether a source address is ours, and sends nothing.
  "probe-agent/exporter/probe-icmp.ts",
  // Asks the system for a route to root servers, and sends them nothing.
  "probe-agent/attachment/canaries.ts",
  // The control plane of the settings, before its certificate is known.
  "probe-agent/membership/enroll.ts",
];

/** Packages that open connections and that nothing may use. Those that are used are wrapped: architecture.test.ts. */
const CLIENTS = /^(?:axios|got|ky|needle|node-fetch|request|superagent|undici|ws|socks|smtp-client)(?:\/|$)/;

/** What of Node's network modules a text imports to open connections with, e.g. "connect of node:net". */
function opensByImport(text: string): readonly string[] {
  const clauses = text.matchAll(new RegExp(`^import\\s+(?!type\\b)([^"';]*?)\\s*from\\s+"node:(${NETWORK})"`, "gm"));
  const dynamic = text.matchAll(new RegExp(`(?:import|require|getBuiltinModule)\\("(?:node:)?(${NETWORK})"`, "g"));
  return [
    ...Array.from(clauses, ([, names = "", module = ""]) =>
      namesOf(names).map((name) => `${name} of ${module}`),
    ).flat(),
    ...Array.from(dynamic, ([, module = ""]) => `all of ${module}`),
  ];
}

function namesOf(clause: string): readonly string[] {
  const list = /^\{([^}]*)\}$/.exec(clause)?.[1];
  if (list === undefined) return [clause];
  const names = list.split(",").map((name) => name.trim());
  return names
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(" as ")[0] ?? name)
    .filter((name) => !HARMLESS.has(name));
}

/** What of the globals opens a connection. A method's name before its parameters is no call: `fetch(most: number)`. */
function opensByGlobal(code: string): readonly string[] {
  const calls =
    /(?:\b(?:await|return|void|yield)\s+|globalThis\.|[=(,:?&|>!]\s*)fetch\(|\bnew (?:WebSocket|EventSource)\(/g;
  return Array.from(code.matchAll(calls), ([call]) => call.trim());
}

/** What a file opens connections with. */
function opens({ text, code }: SourceFile): readonly string[] {
  return [...opensByImport(text), ...opensByGlobal(code)];
}

function isIn(place: string, path: string): boolean {
  return place.endsWith("/") ? path.startsWith(place) : path === place;
}

describe("outgoing connections of the processes", () => {
  it("are opened by the files listed here alone", () => {
    const others = processes.filter(({ path }) => !SENDERS.some((place) => isIn(place, path)));
    expect(others.flatMap((file) => opens(file).map((what) => `${file.path}: ${what}`))).toEqual([]);
  });

  it("are opened by every file and in every folder listed here", () => {
    const senders = processes.filter((file) => opens(file).length > 0);
    expect(SENDERS.filter((place) => !senders.some(({ path }) => isIn(place, path)))).toEqual([]);
  });

  it("use no client library that is not wrapped", () => {
    const importing = processes.filter(({ loads }) => loads.some((name) => CLIENTS.test(name)));
    expect(importing.map(({ path }) => path)).toEqual([]);
  });

  it.each([
    ['import { connect } from "node:net";', "connect of net"],
    ['import { createServer, connect as dial } from "node:tls";', "connect of tls"],
    ['import { isIP, Socket } from "node:net";', "Socket of net"],
    ['import {\n  request,\n  type Server,\n} from "node:https";', "request of https"],
    ['import * as dns from "node:dns/promises";', "* as dns of dns/promises"],
    ['const { connect } = await import("node:net");', "all of net"],
    ["const answer = await fetch(url);", "await fetch("],
    ["void fetch(url);", "void fetch("],
    ["run(() => fetch(url));", "> fetch("],
    ["const socket = new WebSocket(url);", "new WebSocket("],
  ])("are seen in %s", (text, what) => {
    expect([...opensByImport(text), ...opensByGlobal(text)]).toEqual([what]);
  });

  it.each([
    'import type { Socket } from "node:net";',
    'import { isIP, type Socket } from "node:net";',
    'import { createServer as createTlsServer, type TLSSocket } from "node:tls";',
    "  fetch(most: number): Promise<readonly Job[]>;",
    "const jobs = await queue.fetch(free);",
  ])("are not seen in %s", (text) => {
    expect([...opensByImport(text), ...opensByGlobal(text)]).toEqual([]);
  });
});

describe("the agent's HTTP engine", () => {
  it("is imported by the agent alone", () => {
    const others = product.filter(({ path }) => !path.startsWith("probe-agent/"));
    const importing = others.filter(({ imports }) => imports.some((name) => name.startsWith("probe-agent/net/")));
    expect(importing.map(({ path }) => path)).toEqual([]);
  });
});
