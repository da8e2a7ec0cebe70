import type { LinkState } from "#control-plane/mail/recipients/recipients.ts";
import { renderDocument, renderMessage } from "#control-plane/pages/frame.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

/** A link that leads to an address. */
type ValidLink = Exclude<LinkState, { readonly kind: "unknown" }>;

const renderForm: (page: { readonly email: string }) => string = compileTemplate(`
<h1>Confirm this address</h1>
<p>Alerts about websites will be sent to <strong><%= it.email %></strong>.</p>
<form method="post"><button type="submit">Confirm</button></form>
`);

/** Renders what a confirmation link leads to. Programs that open links in mails do not press its button. */
export function renderLink({ kind, email }: ValidLink): string {
  return kind === "used"
    ? renderMessage("Address confirmed", `Alerts are sent to ${email}.`)
    : renderDocument({ title: "Confirm this address", refreshSeconds: null }, renderForm({ email }));
}
