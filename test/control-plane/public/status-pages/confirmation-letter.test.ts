import { expect, it } from "vitest";
import { writePageConfirmation } from "#control-plane/public/status-pages/subscribers/letters.ts";

it.each([
  ["https://status.example.com/", "[status.example.com] Confirm your subscription"],
  ["http://127.0.0.1:8080/status/shop", "Confirm your subscription to a status page"],
  ["http://[::1]:8080/status/shop", "Confirm your subscription to a status page"],
  ["http://localhost:8080/status/shop", "Confirm your subscription to a status page"],
])(
  "the mail that asks for a subscription at %s has the subject %j, and the title of the page in its text",
  (url, subject) => {
    const letter = writePageConfirmation("Example Shop", `${url}/confirm/x`, url);
    expect(letter.subject).toBe(subject);
    expect(letter.paragraphs.join(" ")).toContain('the status page "Example Shop"');
  },
);
