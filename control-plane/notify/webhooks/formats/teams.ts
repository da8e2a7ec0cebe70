import { describeAlert, listLines, type Alert } from "#control-plane/notify/webhooks/formats/alert.ts";
import { fit, jsonBytes, verbatim } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { findText } from "#control-plane/notify/webhooks/formats/reference.ts";
import { refusalOf, type Refusal } from "#control-plane/notify/webhooks/formats/refusal.ts";

/**
 * "Limits and specifications for Microsoft Teams", messages of webhooks: 28 KB, which can be 14,000 characters of UTF-16.
 * The text gets half of that; each of its at most 70 lines costs 70 characters more.
 */
const MOST_TEXT_BYTES = 7_168;
const MOST_TITLE_BYTES = 1_024;

/**
 * Microsoft Teams, "Create incoming webhooks with Workflows for Microsoft Teams" (support.microsoft.com): the address of
 * a workflow that begins "when a Teams webhook request is received", which takes a message with one Adaptive Card
 * ("Adaptive Card", learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-reference). Text is
 * in text runs of RichTextBlocks, which have no Markdown ("Format cards in Teams": TextBlock and Fact have it), so that
 * nothing needs an escape. A mention needs an entity of its own beside the text, which no card of ours has.
 */
export const teams: Format = {
  name: "teams",
  title: "Microsoft Teams",
  options: [],
  refusal: readRefusal,
  build(event, target) {
    const { url } = target;
    const alert = describeAlert(event, target);
    const text = fit(listLines(alert).join("\n"), MOST_TEXT_BYTES, verbatim, jsonBytes);
    const title = { text: fit(alert.title, MOST_TITLE_BYTES, verbatim, jsonBytes), size: "Large", weight: "Bolder" };
    const card = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body: [block({ ...title, color: colorOf(alert) }), ...text.split("\n").map((line) => block({ text: line }))],
      actions: alert.links.map(([label, address]) => ({ type: "Action.OpenUrl", title: label, url: address })),
    };
    const attachment = { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: card };
    return { url, headers: JSON_HEADERS, body: JSON.stringify({ type: "message", attachments: [attachment] }) };
  },
};

function block(run: { readonly text: string; readonly color?: string }): object {
  return { type: "RichTextBlock", inlines: [{ type: "TextRun", ...run }] };
}

function colorOf({ isResolved, severity }: Alert): string {
  if (isResolved) return "Good";
  return { critical: "Attention", warning: "Warning", info: "Accent" }[severity];
}

const FAILED = /^\s*"?(?:Webhook message delivery failed|Webhook Bad Request|Bad payload|System\.\S{1,100}Exception)/i;
const STATUS = /\bHTTP error (\d{3})\b/;

/**
 * Reads an error: the text that connectors answer with success, and the error of a workflow (Azure Logic Apps, a code
 * such as WorkflowTriggerIsNotEnabled), which a change of the workflow ends.
 */
function readRefusal(bodyStart: string): Refusal | null {
  if (findText(bodyStart, ["error", "code"]) !== null) return "temporary";
  return FAILED.test(bodyStart) ? refusalOf(STATUS.exec(bodyStart)?.[1] ?? null) : null;
}
