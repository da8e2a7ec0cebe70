import { MONITORS } from "#control-plane/surfaces/dashboard/strings/monitors.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/**
 * Renders a form of one field that creates a monitor of a site with the defaults of every setting. What is refused is shown in
 * the form of all fields, which receives it. `hasFocus`: whether the page opens with the cursor in it.
 */
export const renderSiteForm: (form: { readonly formToken: string; readonly hasFocus: boolean }) => string =
  compileTemplate(`
<form class="filter" method="post" action="/app/monitors/new" data-kept><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<input type="hidden" name="check_type" value="http"><input type="hidden" name="follow" value="on"><input type="hidden" name="notify_email" value="on">
<div class="field"><label for="f-site">${MONITORS.siteLabel}</label><p class="hint" id="h-site">${MONITORS.siteHint}</p>
<input id="f-site" name="url" inputmode="url" maxlength="8200" required autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="h-site"<% if (it.hasFocus) { %> autofocus<% } %>></div>
<button class="primary" name="do" value="save">${MONITORS.siteSubmit}</button></form>
`);
