import type { IAuthenticateGeneric, ICredentialTestRequest, ICredentialType, INodeProperties } from "n8n-workflow";

export class AfterwordApi implements ICredentialType {
  name = "afterwordApi";

  displayName = "Afterword API";

  icon = { light: "file:../icons/afterword.svg", dark: "file:../icons/afterword.dark.svg" } as const;

  documentationUrl = "https://afterword.example/docs/api";

  properties: INodeProperties[] = [
    {
      displayName: "Address",
      name: "url",
      type: "string",
      default: "",
      placeholder: "https://survey.example.com",
      description: "The address of your Afterword",
      required: true,
    },
    {
      displayName: "Token",
      name: "token",
      type: "string",
      typeOptions: { password: true },
      default: "",
      description: "From Settings, Tokens, with the scopes of what the workflow does",
      required: true,
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: { headers: { Authorization: "=Bearer {{ $credentials.token }}" } },
  };

  test: ICredentialTestRequest = {
    request: { baseURL: '={{ $credentials.url.replace(/\\/+$/, "") }}/v3.2', url: "/q/questionnaire", qs: { limit: 1 } },
  };
}
