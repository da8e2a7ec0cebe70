import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { openWebhookWorld, SLACK } from "#test/shared/client/apply/webhooks/world.ts";
import { runVantage } from "#test/shared/client/command-line.ts";
import type { Row } from "#test/support/account-documents.ts";
import { startControlPlane } from "#test/support/control-plane.ts";

const world = openWebhookWorld();
const { write, read, run, apply, create, listed } = world;

const SHOP = `version: 2
owner: shop
monitors:
  - {name: Backup, check_type: heartbeat, notify_email: true, notify_emails: [ops@example.com]}
webhooks:
  - name: On-call
    url: https://hooks.example.com/vantage
    secret: {env: HOOK_SECRET}
    events: [monitor.down, monitor.up]
    filter: {monitors: [Backup], tags: [web]}
    headers:
      Authorization: {env: HOOK_TOKEN}
  - name: Chat
    url: {file: slack.txt}
    format: slack
  - name: Phone
    url: https://api.pushover.net
    format: pushover
    format_options: {token: {env: PUSH_TOKEN}, user: {env: PUSH_USER}, priority: 1}
`;
const SECRETS = {
  HOOK_SECRET: "secret-of-the-hook",
  HOOK_TOKEN: "Bearer secret-token",
  PUSH_TOKEN: "a".repeat(30),
  PUSH_USER: "u".repeat(30),
};

/** What a plan says of where the document has its secrets from. */
const READS = [
  "< variable HOOK_SECRET: secret of webhook On-call",
  "< variable HOOK_TOKEN: headers.Authorization of webhook On-call",
  "< file slack.txt: url of webhook Chat",
  "< variable PUSH_TOKEN: format_options.token of webhook Phone",
  "< variable PUSH_USER: format_options.user of webhook Phone",
];

describe("apply", () => {
  it("creates webhooks after the monitors that their filters name, and a second time changes nothing", async () => {
    writeFileSync(join(world.folder, "slack.txt"), `${SLACK}\n`);
    write(SHOP);
    const lines = ["+ monitor Backup", "+ webhook On-call", "+ webhook Chat", "+ webhook Phone", ...READS, ""];
    const dry = await apply(SECRETS, ["--dry-run"]);
    expect(dry).toMatchObject({ status: 0, complained: "" });
    expect(dry.said.split("\n")).toEqual([...lines, "Plan: 4 to create, 0 to change, 0 to delete, 0 unchanged."]);
    expect(await listed()).toEqual([]);

    const made = await apply(SECRETS);
    expect(made).toMatchObject({ status: 0, complained: "" });
    expect(made.said.split("\n")).toEqual([...lines, "Created 4, changed 0, deleted 0, unchanged 0."]);
    const [monitor] = await world.documents.listOf(world.key);
    const before = await listed();
    expect(before).toMatchObject([
      {
        name: "On-call",
        events: ["monitor.down", "monitor.up"],
        filter: { monitor_ids: [monitor?.["id"]], tags: ["web"] },
        managed_by: "shop",
      },
      { name: "Chat", url: SLACK, format: "slack" },
      { name: "Phone", format_options: { token: "****", user: "****", priority: "1" } },
    ]);
    expect(await apply(SECRETS)).toEqual({ status: 0, complained: "", said: "No change." });
    expect(await listed()).toEqual(before);
  });

  it("shows each property that changes, of secrets only that they do, and writes nothing else", async () => {
    writeFileSync(join(world.folder, "slack.txt"), SLACK);
    write(SHOP);
    await apply(SECRETS);
    const [first, ...others] = await listed();
    write(SHOP.replace("monitor.up]", "ssl.expired]").replace("{monitors: [Backup], tags: [web]}", "null"));
    const changed = await apply({ ...SECRETS, HOOK_TOKEN: "Bearer other-token" });
    expect(changed.complained).toBe("");
    expect(changed.said.split("\n")).toEqual([
      "~ webhook On-call",
      '    events: ["monitor.down","monitor.up"] -> ["monitor.down","ssl.expired"]',
      '    filter: {"monitors":["Backup"],"tags":["web"]} -> null',
      "    headers.Authorization: (secret) changed",
      ...READS,
      "",
      "Created 0, changed 1, deleted 0, unchanged 3.",
    ]);
    const [after, ...same] = await listed();
    expect(after).toMatchObject({ id: first?.["id"], events: ["monitor.down", "ssl.expired"], filter: null });
    expect(same).toEqual(others);

    writeFileSync(join(world.folder, "slack.txt"), `${SLACK}-other`);
    write(read().replace("priority: 1", "priority: 0").replace("      Authorization", "      X-A"));
    const second = await apply({ ...SECRETS, PUSH_USER: "v".repeat(30), HOOK_SECRET: "other-secret-of-it" });
    expect(second.said.split("\n")).toEqual([
      "~ webhook On-call",
      "    secret: (secret) changed",
      "    headers.X-A: (secret) set",
      "    headers.Authorization: (secret) removed",
      "~ webhook Chat",
      "    url: (secret) changed",
      "~ webhook Phone",
      "    format_options.user: (secret) changed",
      '    format_options.priority: "1" -> 0',
      ...READS.map((line) => line.replace("headers.Authorization", "headers.X-A")),
      "",
      "Created 0, changed 3, deleted 0, unchanged 1.",
    ]);
  });

  it("shows which secrets a webhook loses at another origin, and refuses those that it is to keep", async () => {
    const url = "https://hooks.example.com/vantage";
    await create({ name: "On-call", url, headers: { Authorization: "Bearer a", "X-A": "b" } });
    const format_options = { topic: "alerts", token: "tk_a1" };
    await create({ name: "Phone", url: "https://ntfy.example.com", format: "ntfy", format_options });
    const moved = (headers: object) =>
      write(
        stringify({
          version: 2,
          monitors: [],
          webhooks: [{ name: "On-call", url: "https://other.example.com/", ...headers }],
        }),
      );
    moved({});
    const dry = await apply({}, ["--dry-run"]);
    expect(dry.said.split("\n")).toEqual([
      "~ webhook On-call",
      '    url: "https://hooks.example.com/vantage" -> "https://other.example.com/"',
      "    headers.Authorization: (secret) removed",
      "    headers.X-A: (secret) removed",
      "",
      "Plan: 0 to create, 1 to change, 0 to delete, 0 unchanged.",
    ]);
    moved({ headers: { Authorization: "****", "X-A": "c" } });
    const refused = await apply();
    expect(refused.status).toBe(2);
    expect(refused.complained).toContain(
      "(On-call): headers.Authorization is masked, and the url leads to another origin",
    );
    expect((await listed())[0]).toMatchObject({ url });
    moved({ headers: { "X-A": "c" } });
    expect((await apply()).said).toContain(
      "headers.X-A: (secret) changed\n    headers.Authorization: (secret) removed",
    );
    expect((await listed())[0]).toMatchObject({ url: "https://other.example.com/", headers: { "X-A": "****" } });

    write("version: 2\nmonitors: []\nwebhooks:\n  - {name: Phone, url: https://other.example.com}\n");
    expect((await apply()).complained).toContain("(Phone): format_options.topic is required with this url");
  });

  it("names file, line and field of every problem, shows no secret, and writes nothing", async () => {
    writeFileSync(join(world.folder, "slack.txt"), "http://hooks.slack.com/services/secret-path");
    write(
      SHOP.replace("[Backup]", "[Nobody]").replace("url: https://api", "interval: 3\n    url: https://api") +
        "  - {url: https://example.com}\n  - {name: Chat, filter: {monitor_ids: [1]}}\n",
    );
    const at = (place: string, text: string) => `${world.file}:${place}: ${text}`;
    const form = await apply(SECRETS);
    expect(form).toMatchObject({ status: 2, said: "" });
    expect(form.complained.split("\n")).toEqual([
      "vantage apply: 4 problems; nothing is changed",
      expect.stringContaining(at("17:5", "webhooks.2 (Phone): interval no such field; allowed: name, url, ")),
      at("21:5", "webhooks.3: name must be a text: it says which webhook the row is"),
      at("22:6", "webhooks.4 (Chat): name another row of the document has this name"),
      at("22:27", "webhooks.4 (Chat): filter.monitor_ids no such field; allowed: monitors, tags"),
    ]);
    write(SHOP.replace("[Backup]", "[Nobody]"));
    expect((await apply(SECRETS)).complained.split("\n")).toEqual([
      "vantage apply: 1 problem; nothing is changed",
      at(
        "10:25",
        "webhooks.0 (On-call): filter.monitors.0 no row of the document and no monitor of your account has this name",
      ),
    ]);
    write(SHOP.replace("priority: 1", "priority: secret-priority"));
    const refused = await apply({ ...SECRETS, PUSH_USER: "short-secret" });
    expect(refused).toMatchObject({ status: 2, said: "" });
    expect(refused.complained.split("\n")).toEqual([
      "vantage apply: 2 problems; nothing is changed",
      at("14:5", "webhooks.1 (Chat): url must be a URL that begins with https://, without user information."),
      expect.stringContaining("webhooks.2 (Phone): format_options."),
    ]);
    expect(`${form.complained}${refused.complained}`).not.toMatch(/secret-|short-secret/);
    const unset = await apply({});
    expect(unset.complained).toContain("secret needs the environment variable HOOK_SECRET, which is not set");
    expect(await listed()).toEqual([]);
    expect((await world.documents.exportOf(world.key)).monitors).toEqual([]);
  });

  it("deletes with --prune what an apply with the same owner made, and nothing else", async () => {
    const hook = (name: string) => `  - {name: ${name}, url: "https://hooks.example.com/${name}"}\n`;
    const document = (owner: string, ...names: readonly string[]) =>
      `version: 2\nowner: ${owner}\nmonitors: []\nwebhooks:${names.length === 0 ? " []\n" : `\n${names.map(hook).join("")}`}`;
    await create({ name: "hand", url: "https://hooks.example.com/hand" });
    write(document("other", "theirs"));
    const made = await apply();
    expect(made.said).toContain("Warning: the webhook theirs gets a generated secret that is not shown");
    write(document("shop", "one", "two", "hand"));
    expect((await apply()).said).toContain("Created 2, changed 0, deleted 0, unchanged 1.");
    write(document("shop", "two"));
    expect((await apply()).said).toBe("No change.");
    write("version: 2\nowner: shop\nmonitors: []\n");
    expect((await apply({}, ["--prune", "--yes"])).said).toBe("No change.");
    write(document("shop", "two"));
    expect((await apply({}, ["--prune", "--yes"])).said).toBe(
      "- webhook one\n\nCreated 0, changed 0, deleted 1, unchanged 1.",
    );
    expect((await listed()).map(({ name }) => name)).toEqual(["hand", "theirs", "two"]);
  });

  it("that fails half-way says what is done, and the next one goes on", async () => {
    await world.service.operate("PUT", `/api/admin/accounts?id=${world.accountId}`, { plan: "starter" });
    const hooks = ["one", "two", "three"].map((name) => ({
      name,
      url: `https://hooks.example.com/${name}`,
      secret: "secret-of-the-hook",
    }));
    write(stringify({ version: 2, monitors: [{ name: "Backup", check_type: "heartbeat" }], webhooks: hooks }));
    const failed = await apply();
    expect(failed).toMatchObject({ status: 3, said: expect.stringMatching(/^\+ monitor Backup\n.*three\n$/s) });
    expect(failed.complained).toMatch(
      /daily_limit_exceeded: .* \(at the webhook three\)\. Created 3, changed 0, deleted 0, unchanged 0\. Run it again for the rest\.$/,
    );
    await world.service.operate("PUT", `/api/admin/accounts?id=${world.accountId}`, { plan: "captain" });
    expect((await apply()).said).toBe("+ webhook three\n\nCreated 1, changed 0, deleted 0, unchanged 3.");
    expect((await listed()).map(({ name }) => name)).toEqual(["one", "two", "three"]);
  });

  it("refuses a plan if a webhook has changed since", async () => {
    write("version: 2\nmonitors: []\nwebhooks:\n  - {name: One, url: https://hooks.example.com/one}\n");
    const late = await runVantage(
      ["apply", "-f", world.file],
      { VTG_API_KEY: world.key, VANTAGE_BASE_URL: world.service.url },
      () => {},
      {
        ask: async () => {
          await create({ name: "Meanwhile", url: "https://hooks.example.com/meanwhile" });
          return "yes";
        },
      },
    );
    expect(late).toMatchObject({ status: 2, said: "" });
    expect(late.complained).toContain("your account has changed since the plan: nothing is written; run it again");
    expect((await listed()).map(({ name }) => name)).toEqual(["Meanwhile"]);
  });

  it("refuses more webhooks than the plan allows before it writes one", async () => {
    const plane = await startControlPlane();
    try {
      const own = await plane.createKey("starter");
      const hooks = Array.from({ length: 6 }, (_, index) => ({
        name: `Hook ${index}`,
        url: `https://hooks.example.com/${index}`,
      }));
      write(stringify({ version: 2, monitors: [{ name: "Backup", check_type: "heartbeat" }], webhooks: hooks }));
      const refused = await apply({ VTG_API_KEY: own, VANTAGE_BASE_URL: plane.url });
      expect(refused).toMatchObject({ status: 2, said: "" });
      expect(refused.complained).toContain("The plan allows 5 webhooks, inactive ones included; your account has 0");
      expect((await plane.call("/api/v4/monitors", { key: own })).body.data).toEqual([]);
      const few = stringify({ version: 2, monitors: [], webhooks: hooks.slice(1) });
      write(few);
      expect((await apply({ VTG_API_KEY: own, VANTAGE_BASE_URL: plane.url })).said).toContain("Created 5,");
      const again = await run(["export"], { VTG_API_KEY: own, VANTAGE_BASE_URL: plane.url });
      expect((parse(again.said) as { readonly webhooks: readonly Row[] }).webhooks).toHaveLength(5);
    } finally {
      await plane.stop();
    }
  });
});
