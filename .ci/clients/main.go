// What an application does with the database by Go's libsql-client-go: `client URL TOKEN` fails where an answer is not right.
package main

import (
	"bytes"
	"database/sql"
	"log"
	"os"
	"strings"

	"github.com/tursodatabase/libsql-client-go/libsql"
)

func must(err error) {
	if err != nil {
		log.Fatalln("failed:", err)
	}
}

func expect(right bool, found ...any) {
	if !right {
		log.Fatalln("not right:", found)
	}
}

func open(token string) *sql.DB {
	connector, err := libsql.NewConnector(os.Args[1], libsql.WithAuthToken(token))
	must(err)
	return sql.OpenDB(connector)
}

func main() {
	db := open(os.Args[2])
	_, err := db.Exec("DROP TABLE IF EXISTS thing; CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, picture BLOB)")
	must(err)
	result, err := db.Exec("INSERT INTO thing (name, price, picture) VALUES (?, ?, ?)", "bolt", 2.5, []byte{0, 1})
	must(err)
	id, err := result.LastInsertId()
	must(err)
	expect(id == 1, id)
	tx, err := db.Begin()
	must(err)
	_, err = tx.Exec("INSERT INTO thing (name) VALUES (:name)", sql.Named("name", "nut"))
	must(err)
	must(tx.Commit())
	tx, err = db.Begin()
	must(err)
	_, err = tx.Exec("INSERT INTO thing (name) VALUES ('gone')")
	must(err)
	must(tx.Rollback())
	var name string
	var large int64
	var picture []byte
	var infinite any
	must(db.QueryRow("SELECT name, picture, 9e999, 9223372036854775807 FROM thing WHERE id = 1").Scan(&name, &picture, &infinite, &large))
	expect(name == "bolt" && bytes.Equal(picture, []byte{0, 1}) && infinite == "Inf" && large == 9223372036854775807, name, picture, infinite, large)
	var count int
	must(db.QueryRow("SELECT count(*) FROM thing").Scan(&count))
	expect(count == 2, count)
	_, err = db.Exec("INSERT INTO thing (name) VALUES ('bolt')")
	expect(err != nil && strings.Contains(err.Error(), "UNIQUE constraint failed: thing.name"), err)
	_, err = open("wrong").Exec("SELECT 1")
	expect(err != nil && strings.Contains(err.Error(), "access token is not valid"), err)
	must(db.Close())
}
