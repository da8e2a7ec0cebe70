import { describe, expect, it } from "vitest";
import { describeAlert } from "#control-plane/notify/webhooks/formats/alert.ts";
import { FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";
import type { FormatEvent } from "#control-plane/notify/webhooks/formats/format.ts";
import { BASE, EVENTS, keyOf, monitorEvent, targetOf } from "#test/control-plane/notify/webhooks/formats/events.ts";

const DOWN = EVENTS["monitor.down"]!;
const HOOK = targetOf("https://hooks.example/T0/secret?a=b");
const TELEGRAM = targetOf("https://api.telegram.org", { bot_token: "12:ab", chat_id: "-100" });
const NTFY = targetOf("https://ntfy.example", { topic: "alerts", token: "tk_1" });
const SERVICE = { pageUrl: BASE, keyOf };
const [INCIDENT, MONITOR] = [`${BASE}/app/incidents/12`, `${BASE}/app/monitors/7`];
const LINES = [
  "Cause: Certificate not trusted from eu-west: certificate expired",
  "Since: 2026-11-23 02:37:07 UTC",
  "Reported: 2026-11-23 02:41:12 UTC",
  "Target: https://shop.example/ (http)",
  "Failing locations:",
  "- eu-west: certificate expired 3 minutes ago, since 2026-11-23 02:37:07 UTC",
];

const hostile = (name: string): FormatEvent =>
  monitorEvent({ monitor: { id: 7, name, url: "https://shop.example/", check_type: "http" } });

describe("every format says", () => {
  it.each([
    ["monitor.down", "shop is down.", "critical"],
    ["monitor.up", "shop is up again after 4 min.", "info"],
    ["monitor.degraded", "shop responds slowly: 4200 ms.", "warning"],
    ["monitor.up after slowness", "shop responds quickly again.", "info"],
    ["ssl.expiring", "The certificate of shop expires in 7 days.", "warning"],
    ["ssl.expired", "The certificate of shop has expired.", "critical"],
    ["ssl.chain_changed", "The certificate of shop changed, and it does not look like a renewal.", "warning"],
    ["ssl.chain_changed by a renewal", "The certificate of shop was renewed.", "info"],
    ["domain.expiring", "The domain of shop expires in 14 days.", "warning"],
    ["domain.expired", "The domain registration of shop has lapsed.", "critical"],
    ["visual.changed", "shop looks different: 12.3 % of its pixels.", "warning"],
    ["monitor.unwatched", "shop is not being checked. Whether it works is not known.", "warning"],
    ["monitor.watched", "shop is checked again after 4 min 5 s.", "info"],
    ["test", "Test from Vantage: alerts arrive here.", "info"],
  ])("of %s: %s (%s)", (name, title, severity) => {
    expect(describeAlert(EVENTS[name]!, SERVICE)).toMatchObject({ title, severity });
  });

  it("where to go first: the incident, the monitor, then the pictures", () => {
    expect(describeAlert(DOWN, { ...SERVICE, pageUrl: `${BASE}/` }).links).toEqual([
      ["Incident", INCIDENT],
      ["Monitor", MONITOR],
    ]);
    const labels = describeAlert(EVENTS["visual.changed"]!, SERVICE).links.map(([label]) => label);
    expect(labels).toEqual(["Monitor", "Accepted picture", "New picture", "Difference"]);
    expect(describeAlert(DOWN, { ...SERVICE, pageUrl: null }).links).toEqual([]);
  });

  it("that a monitor is flapping", () => {
    expect(describeAlert(monitorEvent({ isFlapping: true }), SERVICE).facts).toContainEqual([
      "Flapping",
      "it changed more than 4 times within an hour",
    ]);
  });

  it("the name of a heartbeat, which has no host", () => {
    const heartbeat = { id: 3, name: "backup", url: "", check_type: "heartbeat" };
    expect(describeAlert(monitorEvent({ monitor: heartbeat }), SERVICE).source).toBe("backup");
  });
});

describe("Slack", () => {
  it("gets a header, the facts as plain text and links", () => {
    const { url, body } = FORMATS.slack.build(DOWN, HOOK);
    expect(url).toBe(HOOK.url);
    const links = `<${INCIDENT}|Incident>  <${MONITOR}|Monitor>`;
    expect(JSON.parse(body)).toEqual({
      text: "🔴 shop is down.",
      blocks: [
        { type: "header", text: { type: "plain_text", text: "🔴 shop is down.", emoji: false } },
        { type: "section", text: { type: "plain_text", text: LINES.join("\n"), emoji: false } },
        { type: "context", elements: [{ type: "mrkdwn", text: links, verbatim: true }] },
      ],
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  it("mentions nobody and links to nothing that a name contains", () => {
    const { body } = FORMATS.slack.build(hostile("<!channel> <https://evil.example|a&b>"), HOOK);
    const { text } = JSON.parse(body) as { readonly text: string };
    expect(text).toBe("🔴 &lt;!channel&gt; &lt;https://evil.example|a&amp;b&gt; is down.");
    expect(body).not.toContain("<!channel");
  });
});

describe("Discord", () => {
  it("gets one embed, notifies nobody and is asked whether it saved the message", () => {
    const { url, body } = FORMATS.discord.build(DOWN, HOOK);
    expect(url).toBe(`${HOOK.url}&wait=true`);
    expect(JSON.parse(body)).toEqual({
      embeds: [
        {
          title: "shop is down.",
          description: [
            "Cause\\: Certificate not trusted from eu-west\\: certificate expired",
            "Since\\: 2026-11-23 02\\:37\\:07 UTC",
            "Reported\\: 2026-11-23 02\\:41\\:12 UTC",
            "Target\\: https\\://shop.example/ \\(http\\)",
            "Failing locations\\:",
            "- eu-west\\: certificate expired 3 minutes ago, since 2026-11-23 02\\:37\\:07 UTC",
            "",
            `[Incident](${INCIDENT}) · [Monitor](${MONITOR})`,
          ].join("\n"),
          url: INCIDENT,
          color: 0xd1_24_2f,
          timestamp: "2026-11-23T02:41:12.000Z",
        },
      ],
      allowed_mentions: { parse: [] },
    });
  });

  it("keeps the thread of the address", () => {
    const target = targetOf("https://discord.com/api/webhooks/1/t?thread_id=5&wait=false");
    expect(FORMATS.discord.build(DOWN, target).url).toBe("https://discord.com/api/webhooks/1/t?thread_id=5&wait=true");
  });

  it("shows markup of a name as it is", () => {
    const { body } = FORMATS.discord.build(hostile("@everyone [a](https://e.example) **b** `c` <@1> ||d||"), HOOK);
    const { embeds } = JSON.parse(body) as { readonly embeds: readonly { readonly title: string }[] };
    expect(embeds[0]?.title).toBe(
      "\\@everyone \\[a\\]\\(https\\://e.example\\) \\*\\*b\\*\\* \\`c\\` \\<\\@1\\> \\|\\|d\\|\\| is down.",
    );
  });
});

describe("Microsoft Teams", () => {
  const run = (text: string) => ({ type: "RichTextBlock", inlines: [{ type: "TextRun", text }] });

  it("gets a message with one Adaptive Card whose texts have no Markdown", () => {
    const { body } = FORMATS.teams.build(hostile("[a](https://evil.example) **b**"), HOOK);
    const title = { text: "[a](https://evil.example) **b** is down.", size: "Large", weight: "Bolder" };
    expect(JSON.parse(body)).toEqual({
      type: "message",
      attachments: [
        {
          contentType: "application/vnd.microsoft.card.adaptive",
          contentUrl: null,
          content: {
            $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
            type: "AdaptiveCard",
            version: "1.4",
            body: [
              { type: "RichTextBlock", inlines: [{ type: "TextRun", ...title, color: "Attention" }] },
              ...LINES.map(run),
            ],
            actions: [
              { type: "Action.OpenUrl", title: "Incident", url: INCIDENT },
              { type: "Action.OpenUrl", title: "Monitor", url: MONITOR },
            ],
          },
        },
      ],
    });
  });
});

describe("Google Chat", () => {
  it("gets the title as text and a card with the rest", () => {
    const { url, body } = FORMATS["google-chat"].build(DOWN, HOOK);
    expect(url).toBe(HOOK.url);
    const button = (text: string, link: string) => ({ text, onClick: { openLink: { url: link } } });
    const widgets = [
      { textParagraph: { text: LINES.join("<br>") } },
      { buttonList: { buttons: [button("Incident", INCIDENT), button("Monitor", MONITOR)] } },
    ];
    expect(JSON.parse(body)).toEqual({
      text: "🔴 shop is down.",
      cardsV2: [{ cardId: "evt_1", card: { sections: [{ widgets }] } }],
    });
  });

  it("mentions nobody and shows no markup of a name or a cause", () => {
    const event = monitorEvent({
      monitor: { id: 7, name: "<users/all> *a* _b_ `c`", url: "https://shop.example/", check_type: "http" },
      cause: { code: "a", message: '<a href="https://evil.example">&</a>' },
    });
    const { body } = FORMATS["google-chat"].build(event, HOOK);
    expect((JSON.parse(body) as { readonly text: string }).text).toBe("🔴 ‹users/all› ∗a∗ ＿b＿ ˋcˋ is down.");
    expect(JSON.parse(body)).toHaveProperty(
      "cardsV2.0.card.sections.0.widgets.0.textParagraph.text",
      expect.stringMatching(/^Cause: &lt;a href="https:\/\/evil.example"&gt;&amp;&lt;\/a&gt;<br>/),
    );
  });
});

describe("Mattermost", () => {
  const posted = (event: FormatEvent, target = HOOK) => {
    const { attachments } = JSON.parse(FORMATS.mattermost.build(event, target).body) as {
      readonly attachments: readonly Readonly<Record<string, string>>[];
    };
    return attachments[0];
  };

  it("gets one attachment, and no blocks", () => {
    const { url, body } = FORMATS.mattermost.build(DOWN, HOOK);
    expect(url).toBe(HOOK.url);
    expect(JSON.parse(body)).toEqual({
      attachments: [
        {
          fallback: "🔴 shop is down.",
          color: "#d1242f",
          title: "🔴 shop is down.",
          title_link: INCIDENT,
          text: [
            "Cause∶ Certificate not trusted from eu-west∶ certificate expired",
            "Since∶ 2026-11-23 02∶37∶07 UTC",
            "Reported∶ 2026-11-23 02∶41∶12 UTC",
            "Target∶ https∶//shop.example/ \\(http\\)",
            "Failing locations∶",
            "- eu-west∶ certificate expired 3 minutes ago, since 2026-11-23 02∶37∶07 UTC",
            "",
            `[Incident](${INCIDENT}) · [Monitor](${MONITOR})`,
          ].join("\n"),
        },
      ],
    });
  });

  it("mentions nobody, and shows markup of a name and a cause as it is", () => {
    const event = monitorEvent({
      monitor: { id: 7, name: "<!channel> @all [a](b)", url: "https://shop.example/", check_type: "http" },
      cause: { code: "a", message: "@here **b** `c` _d_ ~~e~~ #f [g](https://e.example) |" },
    });
    expect(posted(event)?.["title"]).toBe("🔴 ‹!channel› ＠all ［a］(b) is down.");
    expect(posted(event)?.["fallback"]).toBe("🔴 ‹!channel› ＠all [a](b) is down.");
    expect(posted(event)?.["text"]?.split("\n")[0]).toBe(
      "Cause∶ ＠here \\*\\*b\\*\\* \\`c\\` \\_d\\_ \\~\\~e\\~\\~ \\#f \\[g\\]\\(https∶//e.example\\) \\|",
    );
  });

  it.each([
    ["monitor.up", "#2ea043"],
    ["monitor.degraded", "#e16f24"],
    ["test", "#1f6feb"],
  ])("for %s has the colour %s", (name, color) => {
    expect(posted(EVENTS[name]!)).toMatchObject({ color });
  });
});

describe("Telegram", () => {
  it("gets plain text at the address of the bot", () => {
    const { url, body } = FORMATS.telegram.build(DOWN, TELEGRAM);
    expect(url).toBe("https://api.telegram.org/bot12:ab/sendMessage");
    expect(JSON.parse(body)).toEqual({
      chat_id: "-100",
      text: ["🔴 shop is down.", "", ...LINES, "", `Incident: ${INCIDENT}`, `Monitor: ${MONITOR}`].join("\n"),
      link_preview_options: { is_disabled: true },
    });
  });

  it("notifies no user whom a name names", () => {
    const { body } = FORMATS.telegram.build(hostile("@admin <b>"), TELEGRAM);
    expect((JSON.parse(body) as { readonly text: string }).text).toMatch(/^🔴 ＠admin <b> is down\./);
  });

  it("can be a server of one's own under a path", () => {
    const target = { ...TELEGRAM, url: "https://bots.example/telegram/" };
    expect(FORMATS.telegram.build(DOWN, target).url).toBe("https://bots.example/telegram/bot12:ab/sendMessage");
  });
});

describe("ntfy", () => {
  it("gets JSON at the root of the server", () => {
    const { url, headers, body } = FORMATS.ntfy.build(DOWN, NTFY);
    expect([url, headers]).toEqual([
      "https://ntfy.example",
      { "content-type": "application/json", authorization: "Bearer tk_1" },
    ]);
    expect(JSON.parse(body)).toEqual({
      topic: "alerts",
      title: "shop is down.",
      message: LINES.join("\n"),
      priority: 5,
      tags: ["rotating_light"],
      click: INCIDENT,
    });
  });

  it.each([
    ["monitor.up", 3, "white_check_mark"],
    ["monitor.degraded", 4, "warning"],
    ["test", 3, "information_source"],
  ])("for %s has the priority %i and the tag %s", (name, priority, tag) => {
    expect(JSON.parse(FORMATS.ntfy.build(EVENTS[name]!, NTFY).body)).toMatchObject({ priority, tags: [tag] });
  });

  it("needs no token", () => {
    const { headers } = FORMATS.ntfy.build(DOWN, { ...NTFY, options: { topic: "alerts" } });
    expect(headers).toEqual({ "content-type": "application/json" });
  });
});

describe("Gotify", () => {
  const GOTIFY = targetOf("https://push.example/gotify/", { app_token: "A1" });

  it("gets plain text below the address of the server, with its token in a header field", () => {
    const { url, headers, body } = FORMATS.gotify.build(DOWN, GOTIFY);
    expect([url, headers]).toEqual([
      "https://push.example/gotify/message",
      { "content-type": "application/json", "x-gotify-key": "A1" },
    ]);
    expect(JSON.parse(body)).toEqual({
      title: "shop is down.",
      message: LINES.join("\n"),
      priority: 8,
      extras: {
        "client::display": { contentType: "text/plain" },
        "client::notification": { click: { url: INCIDENT } },
      },
    });
  });

  it.each([
    ["monitor.up", 4],
    ["monitor.degraded", 5],
    ["ssl.expired", 8],
    ["test", 4],
  ])("for %s has the priority %i", (name, priority) => {
    expect(JSON.parse(FORMATS.gotify.build(EVENTS[name]!, GOTIFY).body)).toMatchObject({ priority });
  });

  it("needs no page to open", () => {
    const { body } = FORMATS.gotify.build(DOWN, { ...GOTIFY, pageUrl: null });
    expect(JSON.parse(body)).toHaveProperty("extras", { "client::display": { contentType: "text/plain" } });
  });
});

describe("Pushover", () => {
  const options = { token: "a1", user: "u1" };
  const PUSHOVER = targetOf("https://api.pushover.net", options);
  const pushover = (event: FormatEvent, target = PUSHOVER) =>
    JSON.parse(FORMATS.pushover.build(event, target).body) as Readonly<Record<string, unknown>>;

  it("gets plain text with its time and a page to open", () => {
    const { url, headers } = FORMATS.pushover.build(DOWN, PUSHOVER);
    expect([url, headers]).toEqual([
      "https://api.pushover.net/1/messages.json",
      { "content-type": "application/json" },
    ]);
    expect(pushover(DOWN)).toEqual({
      token: "a1",
      user: "u1",
      title: "shop is down.",
      message: LINES.join("\n"),
      url: INCIDENT,
      url_title: "Incident",
      priority: 1,
      timestamp: Date.parse("2026-11-23T02:41:12Z") / 1_000,
    });
  });

  it.each([
    ["monitor.down", undefined, 1],
    ["monitor.degraded", undefined, 0],
    ["monitor.up", undefined, 0],
    ["test", undefined, 0],
    ["monitor.down", "-2", -2],
    ["monitor.degraded", "1", 1],
    ["monitor.up", "1", 0],
    ["ssl.chain_changed by a renewal", "1", 0],
    ["test", "1", 0],
    ["monitor.up", "-1", -1],
  ])("for %s and the option %s has the priority %i", (name, priority, sent) => {
    const chosen = priority === undefined ? options : { ...options, priority };
    expect(pushover(EVENTS[name]!, { ...PUSHOVER, options: chosen })["priority"]).toBe(sent);
  });

  it("gets no part of an address that is too long", () => {
    const sent = pushover(DOWN, { ...PUSHOVER, pageUrl: `https://${"a".repeat(490)}.example` });
    expect(sent).not.toHaveProperty("url");
    expect(sent).not.toHaveProperty("url_title");
  });
});
