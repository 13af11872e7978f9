/** Labels of host names in their `xn--` form, as IDNA has them (RFC 5891): not every text after `xn--` is one. */
import { domainToASCII, domainToUnicode } from "node:url";

/** Whether each `xn--` label of a host name in lower case stands for a name, and is written as that name is. */
export const hasSoundLabels = (host: string): boolean =>
  host.split(".").every((label) => {
    if (!label.startsWith("xn--")) return true;
    const written = domainToUnicode(label);
    return written !== label && domainToASCII(written) === label;
  });
