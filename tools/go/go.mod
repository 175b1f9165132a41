module petal

go 1.19
