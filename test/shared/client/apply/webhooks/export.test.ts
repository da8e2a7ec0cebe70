import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { openWebhookWorld, PATH, SLACK } from "#test/shared/client/apply/webhooks/world.ts";
import type { Row } from "#test/support/account-documents.ts";

const world = openWebhookWorld();
const { write, read, run, apply, create, listed } = world;

describe("export", () => {
  const FORMATS: readonly Row[] = [
    { format: "standard", url: "https://hooks.example.com/vantage?token=secret-query" },
    { format: "standard", url: "https://hooks.example.com/open", headers: { Authorization: "Bearer secret-header" } },
    { format: "slack", url: SLACK },
    {
      format: "telegram",
      url: "https://api.telegram.org",
      format_options: { bot_token: "1:secret-token", chat_id: "7" },
    },
    { format: "pagerduty", url: "https://events.pagerduty.com", format_options: { routing_key: "secret-key" } },
    {
      format: "pushover",
      url: "https://api.pushover.net",
      format_options: { token: "secret-app", user: "secret-user", priority: -1 },
    },
  ];
  const COUNT = 30;

  it("of 30 webhooks and the recipients of monitors is unchanged; of an edited file exactly the edited ones change", async () => {
    const names = Array.from({ length: COUNT }, (_, index) => `Hook ${index}`);
    const monitors = names.map((name, index) => ({
      name: `Watches ${name}`,
      check_type: "heartbeat",
      notify_email: index % 2 === 0,
      notify_advisories: index % 3 === 0,
      notify_emails: index % 4 === 0 ? null : [`Ops${index}@example.com`, "dev@example.com"],
    }));
    const { ids } = (await world.documents.send(world.key, { version: 2, monitors })).body.data as {
      readonly ids: readonly number[];
    };
    for (const [index, name] of names.entries()) {
      const filter = index % 3 === 0 ? null : { monitor_ids: ids.slice(index % 7, index), tags: ["web"] };
      const events = index % 2 === 0 ? null : ["monitor.down", "monitor.advisory"];
      // oxlint-disable-next-line no-await-in-loop -- oldest first
      await create({ name, events, filter, is_active: index % 5 !== 0, ...FORMATS[index % FORMATS.length] });
    }
    expect(await run(["export", "-o", world.file])).toMatchObject({ status: 0, complained: "" });
    const text = read();
    expect(text).not.toContain("secret-");
    const before = await listed();
    expect(await apply()).toEqual({ status: 0, complained: "", said: "No change." });
    expect(await listed()).toEqual(before);

    const document = parse(text) as {
      readonly monitors: { notify_emails: readonly string[] | null }[];
      readonly webhooks: Record<string, unknown>[];
    };
    expect(document.webhooks.map(({ name }) => name)).toEqual(names);
    const [four, nine, ten] = [4, 9, 10].map((index) => document.webhooks[index] ?? {});
    Object.assign(four ?? {}, { events: ["monitor.up"] });
    Object.assign(nine ?? {}, { filter: { monitors: ["Watches Hook 1"] } });
    Object.assign(ten ?? {}, { is_active: true, format_options: { routing_key: "secret-other-key" } });
    Object.assign(document.monitors[1] ?? {}, { notify_emails: ["new@example.com"] });
    write(stringify(document));
    const changed = await apply();
    expect(changed.complained).toBe("");
    expect(changed.said).not.toContain("secret-");
    expect(changed.said.split("\n").filter((line) => !line.startsWith("  "))).toEqual([
      "~ monitor Watches Hook 1",
      "~ webhook Hook 4",
      "~ webhook Hook 9",
      "~ webhook Hook 10",
      "",
      "Created 0, changed 4, deleted 0, unchanged 56.",
    ]);
    expect(changed.said).toContain('    notify_emails: ["Ops1@example.com","dev@example.com"] -> ["new@example.com"]');
    const after = await listed();
    const written = after.filter((row, index) => row["updated_at"] !== before[index]?.["updated_at"]);
    expect(written.map(({ name }) => name)).toEqual(["Hook 4", "Hook 9", "Hook 10"]);
    expect(written[1]).toMatchObject({ filter: { monitor_ids: [ids[1]], tags: [] } });
  });

  it("masks what an apply to the same account keeps, and one to another account must be given", async () => {
    for (const [index, row] of FORMATS.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- oldest first
      await create({ name: `Hook ${index}`, ...row });
    }
    await run(["export", "-o", world.file]);
    const { key: other } = await world.documents.createOwner();
    const refused = await apply({ VTG_API_KEY: other });
    expect(refused).toMatchObject({ status: 2, said: "" });
    const why = "is masked, and your account has no value for it; give it as a text, {env: NAME} or {file: path}";
    expect(refused.complained.split("\n").slice(1)).toEqual(
      [
        "webhooks.0 (Hook 0): url",
        "webhooks.1 (Hook 1): headers.Authorization",
        "webhooks.2 (Hook 2): url",
        "webhooks.3 (Hook 3): url",
        "webhooks.3 (Hook 3): format_options.bot_token",
        "webhooks.3 (Hook 3): format_options.chat_id",
        "webhooks.4 (Hook 4): url",
        "webhooks.4 (Hook 4): format_options.routing_key",
        "webhooks.5 (Hook 5): url",
        "webhooks.5 (Hook 5): format_options.token",
        "webhooks.5 (Hook 5): format_options.user",
      ].map((what) => expect.stringContaining(` ${what} ${why}`) as unknown),
    );
    write(read().replace("hooks.slack.com/****", "hooks.slack.com/other/****"));
    expect((await apply()).complained).toMatch(/url is masked/);
  });

  it("names webhooks without a name of their own by their ids, which an apply takes back", async () => {
    const url = "https://hooks.example.com/a";
    const twice = await create({ name: "Twice", url });
    const again = await create({ name: "Twice", url });
    const unnamed = await create({ url });
    await run(["export", "-o", world.file]);
    const document = parse(read()) as { readonly webhooks: Record<string, unknown>[] };
    const titles = [`Twice (${twice})`, `Twice (${again})`, `webhook (${unnamed})`];
    expect(document.webhooks.map(({ name }) => name)).toEqual(titles);
    expect((await apply()).said).toBe("No change.");

    await world.service.call(`${PATH}?id=${twice}`, { key: world.key, method: "DELETE" });
    document.webhooks.shift();
    for (const row of document.webhooks) row["is_active"] = false;
    write(stringify(document));
    expect((await apply()).said).toContain("Created 0, changed 2, deleted 0, unchanged 0.");
    expect(await listed()).toMatchObject([
      { id: again, name: "Twice", is_active: false },
      { id: unnamed, name: "", is_active: false },
    ]);

    const third = await create({ name: "Twice", url });
    write(`version: 2\nmonitors: []\nwebhooks: [{name: Twice, url: "${url}"}]\n`);
    expect((await apply()).complained).toBe(
      `vantage apply: 1 problem; nothing is changed\n${world.file}:3:13: webhooks.0 (Twice): name several webhooks of your ` +
        `account have this name; use Twice (${again}) or Twice (${third})`,
    );
    await create({ name: `Twice (${third})`, url });
    const partly = await run(["export"]);
    expect(partly).toMatchObject({
      status: 0,
      complained: `vantage export: the webhook ${third} is left out: give it a name, since another has the name Twice (${third})`,
    });
    expect((parse(partly.said) as { readonly webhooks: readonly unknown[] }).webhooks).toHaveLength(3);
  });

  it("leaves webhooks out if the key may not read them, and an apply without them needs no more", async () => {
    const made = await world.service.operate("POST", "/api/admin/keys", {
      account_id: world.accountId,
      scopes: ["monitors"],
    });
    const limited = (made.body.data as { readonly key: string }).key;
    await create({ name: "Hidden", url: "https://hooks.example.com/a" });
    const shown = await run(["export"], { VTG_API_KEY: limited });
    expect(shown).toMatchObject({
      status: 0,
      complained: "vantage export: webhooks are left out: your key has no scope webhook",
    });
    write(shown.said);
    expect(await apply({ VTG_API_KEY: limited })).toMatchObject({ status: 0, said: "No change." });
    write(`${shown.said}\nwebhooks: []\n`);
    expect(await apply({ VTG_API_KEY: limited })).toMatchObject({ status: 3, said: "" });
  });
});
