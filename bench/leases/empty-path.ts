/** Where `empty-route.ts` answers. */
export const emptyPath = "/bench/empty";
