/**
 * The lab's tests that run on every change (LAB=short): each instrument of an agent once, against real programs and
 * paths, and what must never happen. All others compare tables and other programs' answers: npm run test:full.
 */
export const LAB_FILES: Readonly<Record<string, readonly string[]>> = {
  "test/lab/dialogues.test.ts": ["stream"],
  "test/lab/dns-transports.test.ts": ["dns"],
  "test/lab/http-tools.test.ts": ["http", "quic", "tls"],
  "test/lab/limited-routers.test.ts": ["packets"],
  "test/lab/path-mtu.test.ts": ["packets"],
  "test/lab/ping-states.test.ts": ["packets"],
  "test/lab/ports.test.ts": ["packets"],
  "test/lab/smtp-table.test.ts": ["smtp"],
  "test/lab/whois-table.test.ts": ["whois"],
  "test/lab/exporter-parity.test.ts": ["blackbox"],
  "test/lab/egress-guard.test.ts": [],
  "test/lab/partition.test.ts": [],
  "test/lab/unprivileged-agent.test.ts": [],
};

/** Instruments of an agent (the files of probe-agent/port) that the lab does not have, and what tests them. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  browser: "test/browser/load.test.ts",
};
