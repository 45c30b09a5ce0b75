/** Who makes a request, as authentication.k8s.io/v1 UserInfo has it. Extra keys are lower case. */
export interface UserInfo {
  username: string;
  uid?: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}
