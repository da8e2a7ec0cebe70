import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { runVantage, type Ran } from "#test/shared/client/command-line.ts";
import { openAccountDocuments, type AccountDocuments, type Row } from "#test/support/account-documents.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";

/** Path of the webhooks. */
export const PATH = "/api/v4/webhooks";
/** The address of a provider, whose path is a secret. */
export const SLACK = "https://hooks.slack.com/services/T0/B0/secret-path";

type Variables = Readonly<Record<string, string>>;

/** A service for the tests of a file, and a new account and a document for each. */
export interface WebhookWorld {
  readonly service: MonitorService;
  readonly documents: AccountDocuments;
  readonly folder: string;
  readonly accountId: number;
  readonly key: string;
  /** Name of the document. */
  readonly file: string;
  readonly write: (text: string) => void;
  readonly read: () => string;
  /** Runs a command; `more`: further variables of its environment. */
  readonly run: (words: readonly string[], more?: Variables) => Promise<Ran>;
  /** Applies the document. */
  readonly apply: (more?: Variables, words?: readonly string[]) => Promise<Ran>;
  /** Creates a webhook. Returns its id. */
  readonly create: (body: object) => Promise<number>;
  readonly listed: () => Promise<readonly Row[]>;
}

/** Opens the world; its members are there while a test runs. */
export function openWebhookWorld(): WebhookWorld {
  const now: { service?: MonitorService; documents?: AccountDocuments; folder: string; id: number; key: string } = {
    folder: "",
    id: 0,
    key: "",
  };
  const get = <T>(value: T | undefined): T => value ?? expect.fail("no test runs");
  beforeAll(async () => {
    // Eleven requests are enough to plan a monitor and three webhooks, and to write all but the last of them.
    const plans = { ...BUILT_IN_PLANS, starter: { ...BUILT_IN_PLANS.starter, requestsPerDay: 11 } };
    now.service = await startMonitorService({ plans });
    now.documents = openAccountDocuments(now.service);
  });
  beforeEach(async () => {
    now.folder = mkdtempSync(join(tmpdir(), "vantage-apply-"));
    Object.assign(now, await get(now.documents).createOwner());
    return () => rmSync(now.folder, { recursive: true, force: true });
  });
  afterAll(() => now.service?.stop());
  const world: WebhookWorld = {
    get service() {
      return get(now.service);
    },
    get documents() {
      return get(now.documents);
    },
    get folder() {
      return now.folder;
    },
    get accountId() {
      return now.id;
    },
    get key() {
      return now.key;
    },
    get file() {
      return join(now.folder, "vantage.yaml");
    },
    write: (text) => writeFileSync(world.file, text),
    read: () => readFileSync(world.file, "utf8"),
    run: (words, more = {}) =>
      runVantage(words, { VTG_API_KEY: now.key, VANTAGE_BASE_URL: world.service.url, ...more }),
    apply: (more = {}, words = ["--yes"]) => world.run(["apply", "-f", world.file, ...words], more),
    async create(body) {
      const made = await world.service.call(PATH, { key: now.key, body });
      expect(made.status, made.text).toBe(201);
      return (made.body.data as { readonly id: number }).id;
    },
    listed: async () => (await world.service.call(PATH, { key: now.key })).body.data,
  };
  return world;
}
