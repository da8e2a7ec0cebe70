import { html, type Html } from "#control-plane/core/pages/html.ts";

/**
 * Renders a form of one field that creates a monitor of a site with the defaults of every setting. What is refused is shown in
 * the form of all fields, which receives it. The page opens with the cursor in the field.
 */
export function renderSiteForm(formToken: string): Html {
  return html`
    <form class="filter" method="post" action="/app/monitors/new" data-kept>
      <input type="hidden" name="_csrf" value="${formToken}">
      <input type="hidden" name="check_type" value="http">
      <input type="hidden" name="follow" value="on">
      <input type="hidden" name="notify_email" value="on">
      <div class="field">
        <label for="f-site">Address of a site</label>
        <p class="hint" id="h-site">Such as https://example.com. It is checked every 5 minutes, the first time at once.</p>
        <input id="f-site" name="url" inputmode="url" maxlength="8200" required autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="h-site" autofocus>
      </div>
      <button class="primary" name="do" value="save">Start checking</button>
    </form>`;
}
