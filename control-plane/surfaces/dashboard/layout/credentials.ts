import { renderInput, type InputField } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import type { Html } from "#control-plane/core/pages/html.ts";

/** What a new password has to be. */
export const PASSWORD_HINT = "At least 10 characters. A sentence is good.";

/** What is wrong with a text that is no address. */
export const EMAIL_PROBLEM = "Must be an email address such as ops@example.com.";

/** Renders the field of the address by which somebody signs in, with the name "email". */
export function renderEmail(field: Pick<InputField, "value" | "problem" | "hasFocus">): Html {
  const input = { name: "email", label: "Email", type: "email", autocomplete: "username" } as const;
  return renderInput({ ...input, isRequired: true, maxLength: 254, ...field });
}

/** A field of a password: one that there is, or a new one. Default: "password", with the label "Password". */
interface PasswordField extends Pick<InputField, "hint" | "problem" | "hasFocus"> {
  readonly name?: string;
  readonly label?: string;
  readonly autocomplete: "current-password" | "new-password";
}

/** Renders a field of a password. */
export function renderPassword(field: PasswordField): Html {
  return renderInput({
    name: "password",
    label: "Password",
    type: "password",
    isRequired: true,
    maxLength: 1_024,
    ...field,
  });
}
