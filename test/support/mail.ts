import { expect } from "vitest";
import type { Failed } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest as contract } from "#shared/tools/smtp-test/contract.ts";
import { smtpTest, smtpTestOn } from "#probe-agent/tools/smtp-test/smtp-test.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { createPki, type Issued, type Pki } from "#test/servers/pki.ts";
import { startSmtpServer, type SmtpScript, type SmtpServer } from "#test/servers/smtp.ts";
import { resultOf, runTool, type ToolSetting } from "#test/support/tool.ts";

/** Mail host that valid certificates name. */
export const MAIL_HOST = "mx1.example.test";

/** DNS names, certificates and servers for tests of smtp-test. */
export interface MailWorld {
  readonly pki: Pki;
  /** A valid certificate chain for MAIL_HOST. */
  readonly good: readonly Issued[];
  readonly setting: ToolSetting;
  /** Starts a server that `stop` stops. */
  serve(script?: SmtpScript): Promise<SmtpServer>;
  /** Runs the tool against such a server and requires success. Asserts that it sent only the four harmless commands. */
  test(
    script?: SmtpScript,
    target?: string,
    more?: ToolSetting,
  ): Promise<{ readonly result: ResultOf<typeof contract>; readonly server: SmtpServer }>;
  /** Runs the tool and requires a failure. */
  failure(script: SmtpScript, target?: string, more?: ToolSetting): Promise<Failed>;
  /** Stops all started servers. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const ZONES = {
  "example.test": { MX: ["20 mx2.example.test.", "10 mx1.example.test."] },
  "mx1.example.test": { A: ["127.0.0.1"] },
  "mx2.example.test": { A: ["127.0.0.2"] },
  "host.example.test": { A: ["127.0.0.1"] },
  "null.example.test": { MX: ["0 ."] },
  "down.example.test": { MX: ["10 gone.example.test.", "20 mx2.example.test.", "30 mx1.example.test."] },
  "dead.example.test": { MX: ["10 gone.example.test."] },
  "private.example.test": { MX: ["10 inside.example.test."] },
  "inside.example.test": { A: ["10.0.0.1"] },
  "deaf.example.test": { MX: ["10 gone.example.test.", "20 mx2.example.test."] },
  "refused.example.test": { MX: ["10 mx2.example.test."] },
  "1.0.0.127.in-addr.arpa": { PTR: ["mail.example.test."] },
  "mail.example.test": { A: ["127.0.0.1"] },
};
const HARMLESS = /^(?:tls: )?(?:EHLO \[127\.0\.0\.[12]\]|HELO \[127\.0\.0\.[12]\]|STARTTLS|QUIT)$/;

/** Domain `example.test` with two mail hosts on loopback, and domains whose mail cannot be delivered. */
export async function startMailWorld(): Promise<MailWorld> {
  const pki = await createPki();
  const behaviours = { "servfail.example.test/MX": { status: "SERVFAIL" } } as const;
  const names = await startDnsServer({ zones: ZONES, behaviours });
  const setting: ToolSetting = { dnsServers: [names.address], roots: [pki.root.pem], timeoutMs: 8_000 };
  const good = [await pki.issue({ dns: [MAIL_HOST] }), pki.intermediate];
  const servers: SmtpServer[] = [];
  const serve = async (script: SmtpScript = {}): Promise<SmtpServer> => {
    const server = await startSmtpServer({ chain: good, ...script });
    servers.push(server);
    return server;
  };
  const toolFor = ({ implicit }: SmtpScript, { port }: SmtpServer) =>
    implicit === true ? smtpTestOn([port]) : smtpTest;
  return {
    pki,
    good,
    setting,
    serve,
    async test(script = {}, target = "example.test", more = {}) {
      const server = await serve(script);
      const result = await resultOf(toolFor(script, server), { target, port: server.port }, { ...setting, ...more });
      expect(server.commands.filter((line) => !HARMLESS.test(line))).toEqual([]);
      return { result, server };
    },
    async failure(script, target = "example.test", more = {}) {
      const server = await serve(script);
      const { outcome } = await runTool(
        toolFor(script, server),
        { target, port: server.port },
        { ...setting, ...more },
      );
      if (outcome.status !== "failed") throw new Error(JSON.stringify(outcome));
      return outcome;
    },
    async stop() {
      await Promise.all(servers.splice(0).map((server) => server.close()));
    },
    close: () => names.close(),
  };
}
