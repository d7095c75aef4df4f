// One search by the code that oapi-codegen makes: `client URL KEY FROM TO`.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
)

func fail(what any) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(1)
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fail(err)
	}
	return value
}

func main() {
	url, key, from, to := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("AccessKey", key)
		return nil
	}
	client, err := NewClientWithResponses(url, WithRequestEditorFn(withKey))
	if err != nil {
		fail(err)
	}
	pageSize := int32(10)
	filters := []EventLogsFilter{{Field: "action", Op: "eq", Value: []string{"blocked"}}}
	request := EventLogsSearchRequest{From: number(from), To: number(to), Filters: &filters, PageSize: &pageSize}
	answer, err := client.SearchEventLogsWithResponse(context.Background(), 7, request)
	if err != nil {
		fail(err)
	}
	if answer.JSON200 == nil {
		fail(string(answer.Body))
	}
	found := answer.JSON200
	if found.Total != 120 || found.Rows == nil || len(*found.Rows) != 10 || (*found.Rows)[0].Fields["action"] != "blocked" {
		fail(string(answer.Body))
	}
}
