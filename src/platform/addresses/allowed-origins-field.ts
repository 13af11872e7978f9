/** Origins whose pages may be filled: of a credential, of a connection, and of an item, each narrowing the one before. */
import { z } from "zod";

/** An origin in the form of browsers: no path, no default port. Unencrypted origins are allowed only on this machine, for tests. */
const originPattern =
  /^(https:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])|http:\/\/(localhost|127\.0\.0\.1|\[::1\]))(:[1-9][0-9]{0,4})?$/;

/** A list of origins. `min`: 0 where an empty list means no page at all. */
export const originList = (min: 0 | 1) => z.array(z.string().max(300).regex(originPattern)).min(min).max(20);
