import type { IncomingHttpHeaders } from "node:http";

/** The text of a request's cookie of this name; undefined when it has none. */
export const cookieOf = ({ cookie = "" }: IncomingHttpHeaders, name: string): string | undefined =>
  cookie
    .split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
