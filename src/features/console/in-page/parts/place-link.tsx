import type { ComponentChildren } from "preact";
import { to } from "../router.ts";
import { may } from "../service/session.ts";

/** `at`: the place, as `to` takes it. `needs`: the permission that shows it. */
type Linked = { at: readonly string[]; needs: string; children: ComponentChildren };

/** A link to a view, for who may see it; for others what stands in it alone. */
export const PlaceLink = ({ at, needs, children }: Linked) => (may(needs) ? <a href={to(at)}>{children}</a> : children);
